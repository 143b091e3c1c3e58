/**
 * The replicated metadata as a pure function: a view and a command in, writes and a reply out.
 *
 * Owns: the dispatch to the families. Knows nothing of: the log, LevelDB, encodings, clocks.
 * Rules: the same view, command and context give the same result on every node; a refusal is a reply, and writes at most the audit
 * row of the command; an unknown command stops the node, because other nodes may know it and the states would diverge.
 */
import type { ApplyContext, View, Write } from './base/view.ts'
import {
  approveChange,
  rejectChange,
  requestApproval,
  useApproval,
  useUpApproval,
} from './approvals/approvals.ts'
import { approvedChangeOf } from './approved-change.ts'
import type { Refused } from './base/reply.ts'
import { createAccessKey, revokeAccessKey, rotateAccessKey } from './tenants/access-keys.ts'
import { createAccount } from './tenants/accounts.ts'
import { endAdminSessions, openAdminSession, renewAdminSession } from './tenants/admin-sessions.ts'
import { createAdminToken, revokeAdminToken } from './tenants/admin-tokens.ts'
import { recordAuditExport } from './audit/audit-export.ts'
import { shipAudit, trimAudit } from './audit/audit.ts'
import { type Basis, holds } from './buckets/basis.ts'
import { createBucket, setBucketVersioning } from './buckets/buckets.ts'
import { setBucketObjectLock } from './buckets/object-lock.ts'
import { deleteBucketLifecycle, setBucketLifecycle } from './lifecycle/rules.ts'
import { applyLifecycleRule, endLifecycleWalk } from './lifecycle/acting.ts'
import { forgetSiteChanges, recordSends, retrySiteChanges } from './sites/sends.ts'
import { queueExisting, startResync } from './sites/resync.ts'
import { deleteBucketReplication, setBucketReplication } from './sites/sites.ts'
import {
  deleteTenantReplication,
  followTenant,
  leaveTenant,
  recordWaitingSite,
  setTenantReplication,
} from './sites/tenant-sites.ts'
import { setBucketTags } from './buckets/tags.ts'
import { recordChange } from './record-change.ts'
import { deleteBucket } from './removal/delete-bucket.ts'
import { sealAudit, setAuditKeys } from './audit/audit-segments.ts'
import { deleteBucketPolicy, setBucketPolicy } from './buckets/bucket-policies.ts'
import { recoverCluster } from './members/cluster-recoveries.ts'
import {
  alignBackupSchedule,
  deleteBackupSchedule,
  deleteBackupTarget,
  endScheduledBackup,
  rewrapBackupSecrets,
  setBackupSchedule,
  setBackupTarget,
  startScheduledBackup,
} from './backup-plans/plans.ts'
import { recordBackupCheck } from './backup-plans/checks.ts'
import { collectChunks, haltCollection, resumeCollection, setRepairRate } from './chunks/collection.ts'
import type { Command, CommandType, Proposal, Reply } from './commands.ts'
import { completeUpload } from './objects/complete-upload.ts'
import { addReplica, addReplicas, dropReplicas, dropsDone, endTasks, planCopies } from './chunks/copies.ts'
import { copyObject } from './objects/copy-object.ts'
import { deleteBucketCors, setBucketCors } from './buckets/cors.ts'
import { forgetDeliveries, recordAttempts, redeliver, testHook } from './events/deliveries.ts'
import { releaseDiscarded, releaseDue } from './bodies/discards.ts'
import { Draft } from './base/draft.ts'
import { expire } from './objects/expiry.ts'
import { correctTime } from './time/log-time.ts'
import {
  advanceClusterKey,
  announceMasterKeys,
  rewrapAccessKeys,
  rewrapHookSecrets,
  rewrapSiteSecrets,
  rewrapTenantSiteSecrets,
  rewrapTenantKeys,
} from './master-keys/master-keys.ts'
import { endKeyExchange, exchangeTenantKey, resealBodies } from './key-exchange/key-exchange.ts'
import { deleteObject, deleteObjects, putObject } from './objects/objects.ts'
import { evacuateCopies } from './chunks/evacuation.ts'
import { foundMembers } from './members/members.ts'
import { introduceMember } from './members/introducing.ts'
import { startMembership, stepMembership, undoMembership } from './members/membership.ts'
import { placeMember } from './members/placing.ts'
import { abortUpload, createUpload, putPart } from './objects/multipart.ts'
import { setNotifications } from './events/notifications.ts'
import { advanceOperation, setOperationStatus, startOperation } from './long-operations/operations.ts'
import { restoreStep } from './restoring/restoring.ts'
import { setQuota } from './usage/quota.ts'
import { setTenantLimits } from './limits/limits.ts'
import { finishRecount } from './recount/recount-end.ts'
import { advanceSession, closeSession, openSession } from './chunks/upload-sessions.ts'
import { reportShare } from './long-operations/shares.ts'
import { skipEntry } from './skipped-entries/skipped-entries.ts'
import { mayOmitBarrier } from './command-without-barrier.ts'
import { deleteTenant, disableTenant, shredTenant } from './removal/tenant-end.ts'
import { eraseTenant } from './removal/tenant-erasure.ts'
import { callerFault } from './tenants/callers.ts'
import { createTenant, setClusterKey } from './tenants/tenants.ts'
import { noteUses } from './tenants/uses.ts'
import { setObjectLegalHold, setObjectRetention, setObjectTags } from './objects/version-settings.ts'

type Handler<T extends CommandType> = (
  draft: Draft,
  command: Extract<Command, { type: T }>,
  context: ApplyContext,
) => Reply<T>

/** One handler for each command; a missing one does not compile. */
const HANDLERS: { readonly [T in CommandType]: Handler<T> } = {
  correctTime,
  setClusterKey,
  createTenant,
  createAccessKey,
  rotateAccessKey,
  revokeAccessKey,
  createAccount,
  noteUses,
  createAdminToken,
  revokeAdminToken,
  openAdminSession,
  renewAdminSession,
  endAdminSessions,
  createBucket,
  deleteBucket,
  setBucketVersioning,
  setBucketObjectLock,
  setBucketPolicy,
  deleteBucketPolicy,
  setBucketCors,
  deleteBucketCors,
  setBucketTags,
  setBucketLifecycle,
  deleteBucketLifecycle,
  applyLifecycleRule,
  endLifecycleWalk,
  setBucketReplication,
  deleteBucketReplication,
  startResync,
  retrySiteChanges,
  recordSends,
  queueExisting,
  forgetSiteChanges,
  rewrapSiteSecrets,
  setTenantReplication,
  deleteTenantReplication,
  followTenant,
  recordWaitingSite,
  leaveTenant,
  rewrapTenantSiteSecrets,
  setQuota,
  setTenantLimits,
  requestApproval,
  approveChange,
  rejectChange,
  useApproval,
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
  releaseDue,
  setNotifications,
  testHook,
  redeliver,
  recordAttempts,
  forgetDeliveries,
  rewrapHookSecrets,
  addReplica,
  addReplicas,
  announceMasterKeys,
  advanceClusterKey,
  rewrapTenantKeys,
  rewrapAccessKeys,
  exchangeTenantKey,
  resealBodies,
  endKeyExchange,
  restoreStep,
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
  setBackupTarget,
  deleteBackupTarget,
  setBackupSchedule,
  deleteBackupSchedule,
  startScheduledBackup,
  endScheduledBackup,
  alignBackupSchedule,
  rewrapBackupSecrets,
  recordBackupCheck,
  shipAudit,
  trimAudit,
  sealAudit,
  setAuditKeys,
  recordAuditExport,
  foundMembers,
  introduceMember,
  placeMember,
  startMembership,
  stepMembership,
  undoMembership,
  evacuateCopies,
  recoverCluster,
  skipEntry,
}

export function isCommandType(type: unknown): type is CommandType {
  return typeof type === 'string' && Object.hasOwn(HANDLERS, type)
}

export interface Applied {
  /** In the order in which the command first touched the rows; each row once. For a refusal only those of the audit log. */
  readonly writes: readonly Write[]
  readonly reply: Reply
}

export function apply(view: View, proposal: Proposal, at: Omit<ApplyContext, 'origin'>): Applied {
  const { origin, caller, basis, ...command } = proposal
  if (!isCommandType(command.type)) throw unknownCommand(command)
  const draft = new Draft(view)
  const context = origin === undefined ? at : { ...at, origin }
  const ended = caller === undefined ? null : callerFault(view, caller, context.time)
  if (ended === null && basis !== undefined && !isBasisThere(view, command as Command, basis))
    return BASIS_GONE
  const fault = ended ?? approvalFault(draft, command as Command, context.time)
  const reply = fault ?? decide(draft, command as Command, context)
  const kept = reply.ok ? draft : new Draft(view)
  if (origin !== undefined) recordChange(kept, { command: command as Command, reply, origin }, context)
  return { writes: kept.writes(), reply }
}

/** The gateway authorizes again and proposes again: what comes of that is what the audit log tells. */
const BASIS_GONE: Applied = {
  writes: [],
  reply: {
    ok: false,
    code: 'basis_gone',
    message: 'The bucket is not the one that the request was authorized for',
  },
}

function isBasisThere(view: View, command: Command, basis: Basis): boolean {
  return mayOmitBarrier(command) && holds(view, command, basis)
}

/** Null: the command comes without an approval, or with one that counted and is used up now. */
function approvalFault(draft: Draft, command: Command, time: number): Refused | null {
  const use = 'approval' in command ? command.approval : undefined
  return use === undefined ? null : useUpApproval(draft, use, approvedChangeOf(command)?.text, time)
}

/** The handler under the type of a command takes exactly that command; the type parameter states this. */
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
