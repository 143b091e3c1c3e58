/**
 * The replicated metadata as a pure function: a view and a command in, writes and a reply out.
 *
 * Owns: the dispatch to the families. Knows nothing of: the log, LevelDB, encodings, clocks.
 * Rules: the same view, command and context give the same result on every node; a command it dislikes is refused in the
 * reply and writes its row of the audit log at most; one that it does not know stops the node, for others may and would diverge.
 */
import { createAccessKey, revokeAccessKey, rotateAccessKey } from './access-keys.ts'
import { createAccount } from './accounts.ts'
import { createAdminToken, revokeAdminToken } from './admin-tokens.ts'
import { recordChange, shipAudit, trimAudit } from './audit.ts'
import { deleteBucketPolicy, setBucketPolicy } from './bucket-policies.ts'
import { createBucket, deleteBucket, setBucketVersioning } from './buckets.ts'
import { recoverCluster } from './cluster-recoveries.ts'
import { collectChunks, haltCollection, resumeCollection, setRepairRate } from './collection.ts'
import type { Command, CommandType, Proposal, Reply } from './commands.ts'
import { completeUpload } from './complete-upload.ts'
import { addReplica, dropReplicas, dropsDone, endTasks, planCopies } from './copies.ts'
import { copyObject } from './copy-object.ts'
import { deleteBucketCors, setBucketCors } from './cors.ts'
import { forgetDeliveries, recordAttempts, redeliver, testHook } from './deliveries.ts'
import { releaseDiscarded } from './discards.ts'
import { Draft } from './draft.ts'
import { expire } from './expiry.ts'
import {
  advanceClusterKey,
  announceMasterKeys,
  rewrapAccessKeys,
  rewrapHookSecrets,
  rewrapTenantKeys,
} from './master-keys.ts'
import { deleteObject, deleteObjects, putObject } from './objects.ts'
import { evacuateCopies } from './evacuation.ts'
import { foundMembers, introduceMember } from './members.ts'
import { startMembership, stepMembership, undoMembership } from './membership.ts'
import { abortUpload, createUpload, putPart } from './multipart.ts'
import { setNotifications } from './notifications.ts'
import { advanceOperation, setOperationStatus, startOperation } from './operations.ts'
import { setQuota } from './quota.ts'
import { finishRecount } from './recount-end.ts'
import { advanceSession, closeSession, openSession } from './sessions.ts'
import { reportShare } from './shares.ts'
import { deleteTenant, disableTenant, shredTenant } from './tenant-end.ts'
import { eraseTenant } from './tenant-erasure.ts'
import { createTenant, setClusterKey } from './tenants.ts'
import { noteUses } from './uses.ts'
import { setObjectLegalHold, setObjectRetention, setObjectTags } from './version-settings.ts'
import type { ApplyContext, View, Write } from './view.ts'

type Handler<T extends CommandType> = (
  draft: Draft,
  command: Extract<Command, { type: T }>,
  context: ApplyContext,
) => Reply<T>

/** One row for each command; a missing one does not compile. */
const HANDLERS: { readonly [T in CommandType]: Handler<T> } = {
  setClusterKey,
  createTenant,
  createAccessKey,
  rotateAccessKey,
  revokeAccessKey,
  createAccount,
  noteUses,
  createAdminToken,
  revokeAdminToken,
  createBucket,
  deleteBucket,
  setBucketVersioning,
  setBucketPolicy,
  deleteBucketPolicy,
  setBucketCors,
  deleteBucketCors,
  setQuota,
  putObject,
  deleteObject,
  deleteObjects,
  copyObject,
  setObjectTags,
  setObjectRetention,
  setObjectLegalHold,
  createUpload,
  putPart,
  completeUpload,
  abortUpload,
  expire,
  releaseDiscarded,
  setNotifications,
  testHook,
  redeliver,
  recordAttempts,
  forgetDeliveries,
  rewrapHookSecrets,
  addReplica,
  announceMasterKeys,
  advanceClusterKey,
  rewrapTenantKeys,
  rewrapAccessKeys,
  disableTenant,
  deleteTenant,
  eraseTenant,
  shredTenant,
  dropReplicas,
  planCopies,
  endTasks,
  dropsDone,
  collectChunks,
  haltCollection,
  resumeCollection,
  finishRecount,
  setRepairRate,
  startOperation,
  reportShare,
  advanceOperation,
  setOperationStatus,
  openSession,
  advanceSession,
  closeSession,
  shipAudit,
  trimAudit,
  foundMembers,
  introduceMember,
  startMembership,
  stepMembership,
  undoMembership,
  evacuateCopies,
  recoverCluster,
}

export function isCommandType(type: unknown): type is CommandType {
  return typeof type === 'string' && Object.hasOwn(HANDLERS, type)
}

export interface Applied {
  /** In the order in which the command first touched the rows; each row once. Of a refusal the audit log alone. */
  readonly writes: readonly Write[]
  readonly reply: Reply
}

export function apply(view: View, proposal: Proposal, at: Omit<ApplyContext, 'origin'>): Applied {
  const { origin, ...command } = proposal
  if (!isCommandType(command.type)) throw unknownCommand(command)
  const draft = new Draft(view)
  const context = origin === undefined ? at : { ...at, origin }
  const reply = decide(draft, command as Command, context)
  const kept = reply.ok ? draft : new Draft(view)
  if (origin !== undefined) recordChange(kept, { command: command as Command, reply, origin }, context)
  return { writes: kept.writes(), reply }
}

/** The row of a command takes that command: one name stands for both. */
function decide<T extends CommandType>(
  draft: Draft,
  command: Extract<Command, { type: T }>,
  context: ApplyContext,
): Reply<T> {
  return HANDLERS[command.type as T](draft, command, context)
}

function unknownCommand({ type }: { readonly type?: unknown }): Error {
  return new Error(`Cannot apply command: type "${String(type)}" is unknown to this build; upgrade this node`)
}
