/**
 * The replicated metadata as a pure function: a view and a command in, writes and a reply out.
 *
 * Owns: the dispatch to the families. Knows nothing of: the log, LevelDB, encodings, clocks.
 * Rules: the same view, command and context give the same result on every node; a command it dislikes is refused in
 * the reply and writes nothing; a command it does not know stops the node, for others may know it and would diverge.
 */
import { createAccessKey, revokeAccessKey, rotateAccessKey } from './access-keys.ts'
import { createAdminToken, revokeAdminToken } from './admin-tokens.ts'
import { createBucket, deleteBucket } from './buckets.ts'
import { collectChunks, haltCollection, resumeCollection, setRepairRate } from './collection.ts'
import type { Command, CommandType, Reply } from './commands.ts'
import { addReplica, dropReplicas, dropsDone, endTasks, planCopies } from './copies.ts'
import { Draft } from './draft.ts'
import {
  advanceClusterKey,
  announceMasterKeys,
  rewrapAccessKeys,
  rewrapTenantKeys,
  shredTenant,
} from './master-keys.ts'
import { deleteObject, putObject } from './objects.ts'
import { advanceOperation, setOperationStatus, startOperation } from './operations.ts'
import { finishRecount } from './recount-end.ts'
import { advanceSession, closeSession, openSession } from './sessions.ts'
import { reportShare } from './shares.ts'
import { createTenant, setClusterKey } from './tenants.ts'
import type { ApplyContext, View, Write } from './view.ts'

const COMMAND_TYPES: Readonly<Record<CommandType, true>> = {
  setClusterKey: true,
  createTenant: true,
  createAccessKey: true,
  rotateAccessKey: true,
  revokeAccessKey: true,
  createAdminToken: true,
  revokeAdminToken: true,
  createBucket: true,
  deleteBucket: true,
  putObject: true,
  deleteObject: true,
  addReplica: true,
  announceMasterKeys: true,
  advanceClusterKey: true,
  rewrapTenantKeys: true,
  rewrapAccessKeys: true,
  shredTenant: true,
  dropReplicas: true,
  planCopies: true,
  endTasks: true,
  dropsDone: true,
  collectChunks: true,
  haltCollection: true,
  resumeCollection: true,
  finishRecount: true,
  setRepairRate: true,
  startOperation: true,
  reportShare: true,
  advanceOperation: true,
  setOperationStatus: true,
  openSession: true,
  advanceSession: true,
  closeSession: true,
}

export function isCommandType(type: unknown): type is CommandType {
  return typeof type === 'string' && Object.hasOwn(COMMAND_TYPES, type)
}

type OuterType =
  | 'setClusterKey'
  | 'createTenant'
  | 'createAccessKey'
  | 'rotateAccessKey'
  | 'revokeAccessKey'
  | 'createAdminToken'
  | 'revokeAdminToken'
  | 'createBucket'
  | 'deleteBucket'
  | 'putObject'
  | 'deleteObject'
type KeyType =
  | 'announceMasterKeys'
  | 'advanceClusterKey'
  | 'rewrapTenantKeys'
  | 'rewrapAccessKeys'
  | 'shredTenant'
type KeyCommand = Extract<Command, { type: KeyType }>
type InnerCommand = Exclude<Command, { type: OuterType | KeyType }>

export interface Applied {
  /** In the order in which the command first touched the rows; each row once. Empty when refused. */
  readonly writes: readonly Write[]
  readonly reply: Reply
}

export function apply(view: View, command: Command, context: ApplyContext): Applied {
  const draft = new Draft(view)
  const reply = decide(draft, command, context)
  return { writes: reply.ok ? draft.writes() : [], reply }
}

function decide(draft: Draft, command: Command, context: ApplyContext): Reply {
  switch (command.type) {
    case 'setClusterKey':
      return setClusterKey(draft, command)
    case 'createTenant':
      return createTenant(draft, command, context)
    case 'createAccessKey':
      return createAccessKey(draft, command, context)
    case 'rotateAccessKey':
      return rotateAccessKey(draft, command, context)
    case 'revokeAccessKey':
      return revokeAccessKey(draft, command, context)
    case 'createAdminToken':
      return createAdminToken(draft, command, context)
    case 'revokeAdminToken':
      return revokeAdminToken(draft, command, context)
    case 'createBucket':
      return createBucket(draft, command, context)
    case 'deleteBucket':
      return deleteBucket(draft, command)
    case 'putObject':
      return putObject(draft, command, context)
    case 'deleteObject':
      return deleteObject(draft, command, context)
    case 'announceMasterKeys':
    case 'advanceClusterKey':
    case 'rewrapTenantKeys':
    case 'rewrapAccessKeys':
    case 'shredTenant':
      return decideKeys(draft, command, context)
    default:
      return decideCopies(draft, command, context)
  }
}

/** Which master key the cluster seals with, and what is sealed under it. */
function decideKeys(draft: Draft, command: KeyCommand, context: ApplyContext): Reply {
  switch (command.type) {
    case 'announceMasterKeys':
      return announceMasterKeys(draft, command)
    case 'advanceClusterKey':
      return advanceClusterKey(draft, command)
    case 'rewrapTenantKeys':
      return rewrapTenantKeys(draft, command)
    case 'rewrapAccessKeys':
      return rewrapAccessKeys(draft, command)
    case 'shredTenant':
      return shredTenant(draft, command, context)
  }
}

/** The commands that nobody outside of the cluster sends: sessions, copies, collection. */
function decideCopies(draft: Draft, command: InnerCommand, context: ApplyContext): Reply {
  switch (command.type) {
    case 'addReplica':
      return addReplica(draft, command)
    case 'dropReplicas':
      return dropReplicas(draft, command, context)
    case 'planCopies':
      return planCopies(draft, command, context)
    case 'endTasks':
      return endTasks(draft, command)
    case 'dropsDone':
      return dropsDone(draft, command)
    case 'collectChunks':
      return collectChunks(draft, command)
    case 'haltCollection':
      return haltCollection(draft, command, context)
    case 'resumeCollection':
      return resumeCollection(draft, command, context)
    case 'finishRecount':
      return finishRecount(draft, command, context)
    case 'setRepairRate':
      return setRepairRate(draft, command)
    case 'startOperation':
      return startOperation(draft, command, context)
    case 'reportShare':
      return reportShare(draft, command, context)
    case 'advanceOperation':
      return advanceOperation(draft, command, context)
    case 'setOperationStatus':
      return setOperationStatus(draft, command, context)
    case 'openSession':
      return openSession(draft, command)
    case 'advanceSession':
      return advanceSession(draft, command)
    case 'closeSession':
      return closeSession(draft, command)
    default:
      return unknownCommand(command)
  }
}

function unknownCommand(command: never): never {
  const { type } = command as { readonly type?: unknown }
  throw new Error(`Cannot apply command: type "${String(type)}" is unknown to this build; upgrade this node`)
}
