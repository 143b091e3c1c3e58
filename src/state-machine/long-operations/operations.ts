/**
 * Long operations: their request, progress and outcome.
 *
 * Owns: the rows of operations, their bounded list, the counts of their tasks. Knows nothing of: which worker drives them.
 * Rules: a driver advances only from the present cursor and is refused otherwise, so two drivers never count the same work twice;
 * tasks are counted in the entry that grants or ends them; an ended operation never starts again. rereplications.ts starts recoveries.
 */
import { tenantKeys } from '../tenants/keys.ts'
import { longOperationKeys } from './keys.ts'
import type { ApplyContext, View } from '../base/view.ts'
import { isKeyPart } from '../base/row-key.ts'
import type { LongOperationCommand } from './commands.ts'
import { bucketOf } from '../buckets/find-bucket.ts'
import type {
  LongOperationProgress,
  LongOperation,
  LongOperationShare,
  LongOperationStatus,
} from './records.ts'
import { backupFault, goneFault, renewHold, startHold } from './backups.ts'
import { cancelFault, isRevocable } from './cancelling.ts'
import type { Draft } from '../base/draft.ts'
import { freeRestored } from './restores.ts'
import { type Accepted, accept, type Refused, refuse } from '../base/reply.ts'

/** The cursor when the driver has planned all of its work. */
export const ALL_PLANNED = 'end'

const UNFINISHED_MAX = 16
/** Finished operations that are kept; the oldest is removed first. */
const FINISHED_MAX = 256

type SetStatus = Extract<LongOperationCommand, { type: 'setOperationStatus' }>
export type AskedOperation = Omit<
  Extract<LongOperationCommand, { type: 'startOperation' }>,
  'type' | 'kind'
> &
  Pick<LongOperation, 'kind'>

export const NO_PROGRESS: LongOperationProgress = {
  blobsTotal: 0,
  blobsDone: 0,
  bytesTotal: 0,
  bytesMoved: 0,
  checksumFailures: 0,
  skipped: 0,
  tasksOpen: 0,
}

/** The share of a node that has not reported yet. */
const NOT_STARTED: LongOperationShare = { isDone: false, progress: 0, copies: 0, bytes: 0, lost: 0 }

/** Actions that an operation of this kind always refuses, and why. */
const NEVER: Readonly<
  Partial<Record<LongOperation['kind'], Readonly<Partial<Record<SetStatus['action'], string>>>>>
> = {
  recovery: {
    pause: 'the copies that it makes are needed; lower the rate of repair instead',
    cancel: 'the copies that it makes are needed; lower the rate of repair instead',
  },
  tenantDeletion: { cancel: 'what it has deleted does not come back; pause it instead' },
  keyExchange: { cancel: 'new writes have the new key already; pause it instead' },
  recount: { pause: 'it reads one snapshot of the rows and cannot continue with another; cancel it instead' },
  join: { pause: 'a membership change cannot be paused; cancel it instead' },
  replace: { pause: 'a membership change cannot be paused; cancel it instead' },
  demote: { pause: 'a membership change cannot be paused' },
  lost: { pause: 'a membership change cannot be paused' },
  remove: { pause: 'a membership change cannot be paused' },
}

/** For each action, the statuses that allow it and the status that it leads to. */
const ACTIONS: Readonly<
  Record<
    SetStatus['action'],
    { readonly from: readonly LongOperationStatus[]; readonly to: LongOperationStatus }
  >
> = {
  pause: { from: ['queued', 'running'], to: 'paused' },
  resume: { from: ['paused'], to: 'running' },
  cancel: { from: ['queued', 'running', 'paused'], to: 'cancelled' },
  finish: { from: ['queued', 'running'], to: 'succeeded' },
  fail: { from: ['queued', 'running', 'paused'], to: 'failed' },
}

export function isFinished(status: LongOperationStatus): boolean {
  return status === 'succeeded' || status === 'failed' || status === 'cancelled'
}

/** Idempotent: repeating it with the same id returns the operation that exists. */
export function startOperation(
  draft: Draft,
  command: Extract<LongOperationCommand, { type: 'startOperation' }>,
  context: ApplyContext,
): Accepted<LongOperation> | Refused {
  const { type: _, ...asked } = command
  const { operationId, tenantId, bucket } = asked
  if (!isKeyPart(operationId))
    return refuse('invalid_argument', 'Cannot start operation: its id is malformed')
  const present = draft.get(longOperationKeys.operation(operationId))
  if (present !== undefined) return accept(present)
  if (tenantId !== null && draft.get(tenantKeys.tenant(tenantId)) === undefined) {
    return refuse('not_found', `Cannot start operation: tenant "${tenantId}" does not exist`)
  }
  const scope = tenantId !== null && bucket !== null ? bucketOf(draft, tenantId, bucket) : accept(null)
  if (!scope.ok) return scope
  const fault =
    goneFault(draft, asked) ?? backupFault(unfinishedOperations(draft), asked) ?? tooManyOperations(draft)
  return fault ?? accept(beginOperation(draft, asked, context))
}

/** Null: one more may start. Recoveries neither count nor are refused: no caller requests them, and each node has at most one. */
export function tooManyOperations(view: View): Refused | null {
  const requested = unfinishedOperations(view).filter(({ kind }) => kind !== 'recovery').length
  if (requested < UNFINISHED_MAX) return null
  return refuse(
    'precondition_failed',
    `Cannot start operation: ${requested} are unfinished; wait for one to end or cancel one`,
  )
}

/** Adds a row, and its id to the list of unfinished operations. */
export function beginOperation(
  draft: Draft,
  { nodes, backup, restore, ...asked }: AskedOperation,
  context: ApplyContext,
): LongOperation {
  const shares = nodes && Object.fromEntries(nodes.map((node) => [node, NOT_STARTED]))
  const operation: LongOperation = {
    ...asked,
    ...(shares === undefined ? {} : { shares }),
    ...(backup === undefined ? {} : { backup: startHold(backup, context) }),
    ...(restore === undefined ? {} : { restore: { ...restore, missingCount: 0, missing: [] } }),
    status: 'queued',
    phase: 'queued',
    createdAt: context.time,
    startedAt: null,
    finishedAt: null,
    cursor: '',
    progress: NO_PROGRESS,
    error: null,
  }
  const { unfinished, finished } = listOf(draft)
  draft.put(longOperationKeys.operation(asked.operationId), operation)
  draft.put(longOperationKeys.operationList(), { unfinished: [...unfinished, asked.operationId], finished })
  return operation
}

/** In the order of their requests. At most UNFINISHED_MAX, plus one recovery for each node. */
export function unfinishedOperations(view: View): readonly LongOperation[] {
  return listOf(view).unfinished.flatMap((id) => view.get(longOperationKeys.operation(id)) ?? [])
}

/** Compare and set: refused when another driver has moved the cursor meanwhile. */
export function advanceOperation(
  draft: Draft,
  command: Extract<LongOperationCommand, { type: 'advanceOperation' }>,
  context: ApplyContext,
): Accepted<LongOperation> | Refused {
  const { operationId, from, cursor, phase, counted } = command
  const present = workable(draft, operationId, 'advance operation')
  if (!present.ok) return present
  if (present.value.cursor !== from) {
    return refuse(
      'precondition_failed',
      `Cannot advance operation: "${operationId}" is at another cursor now`,
    )
  }
  const held = renewHold(present.value, context)
  if (!held.ok) return held
  const moved = { ...held.value, cursor, phase, progress: added(held.value.progress, counted) }
  const operation: LongOperation = {
    ...moved,
    status: 'running',
    startedAt: moved.startedAt ?? context.time,
  }
  draft.put(longOperationKeys.operation(operationId), operation)
  return accept(operation)
}

/** Idempotent: an action whose status is reached already changes nothing. */
export function setOperationStatus(
  draft: Draft,
  command: SetStatus,
  context: ApplyContext,
): Accepted<LongOperation> | Refused {
  const { operationId, action, error } = command
  const present = draft.get(longOperationKeys.operation(operationId))
  if (present === undefined) return refuse('not_found', `Operation "${operationId}" does not exist`)
  const { from, to } = ACTIONS[action]
  if (present.status === to) return accept(present)
  const tooLate = action === 'cancel' ? cancelFault(present) : null
  if (tooLate !== null) return tooLate
  const cannot = `Cannot ${action} operation "${operationId}"`
  const never = NEVER[present.kind]?.[action]
  if (never !== undefined) return refuse('precondition_failed', `${cannot}: ${never}`)
  if (!from.includes(present.status))
    return refuse('precondition_failed', `${cannot}: it is ${present.status}`)
  if (action === 'finish' && present.progress.tasksOpen > 0) {
    return refuse(
      'precondition_failed',
      `${cannot}: ${present.progress.tasksOpen} of its copies are still to be made`,
    )
  }
  if (action === 'finish' && present.kind === 'recovery' && present.cursor !== ALL_PLANNED)
    return refuse('precondition_failed', `${cannot}: what is lost is still being counted`)
  if (action === 'cancel' && isRevocable(present)) return accept(revoked(draft, present))
  return accept(withStatus(draft, { ...present, error }, to, context))
}

/** Sets the status; an operation that ends with it moves to the list of finished ones. */
export function withStatus(
  draft: Draft,
  present: LongOperation,
  status: LongOperationStatus,
  { time }: Pick<ApplyContext, 'time'>,
): LongOperation {
  const { operationId } = present
  const finishedAt = isFinished(status) ? time : null
  const operation: LongOperation = { ...present, status, finishedAt }
  draft.put(longOperationKeys.operation(operationId), operation)
  if (!isFinished(status)) return operation
  freeRestored(draft, operation)
  fileFinished(draft, operationId)
  return operation
}

function revoked(draft: Draft, present: LongOperation): LongOperation {
  const operation = { ...present, isRevoked: true, phase: 'to be given up, unless votes have moved' }
  draft.put(longOperationKeys.operation(present.operationId), operation)
  return operation
}

/** The operation, if it is queued or running: only then may its driver plan and count. */
export function workable(view: View, operationId: string, what: string): Accepted<LongOperation> | Refused {
  const present = view.get(longOperationKeys.operation(operationId))
  if (present === undefined)
    return refuse('not_found', `Cannot ${what}: operation "${operationId}" does not exist`)
  if (present.status === 'queued' || present.status === 'running') return accept(present)
  return refuse('precondition_failed', `Cannot ${what}: operation "${operationId}" is ${present.status}`)
}

/** Counts nothing for null or for an operation whose row is gone. */
export function countTasks(
  draft: Draft,
  operationId: string | null,
  change: Partial<LongOperationProgress>,
): void {
  const present = operationId === null ? undefined : draft.get(longOperationKeys.operation(operationId))
  if (present === undefined) return
  draft.put(longOperationKeys.operation(present.operationId), {
    ...present,
    progress: added(present.progress, change),
  })
}

export function added(
  progress: LongOperationProgress,
  change: Partial<LongOperationProgress>,
): LongOperationProgress {
  const sum: Record<keyof LongOperationProgress, number> = { ...progress }
  for (const figure of Object.keys(NO_PROGRESS) as (keyof LongOperationProgress)[])
    sum[figure] += change[figure] ?? 0
  return sum
}

function listOf(view: View): {
  readonly unfinished: readonly string[]
  readonly finished: readonly string[]
} {
  return view.get(longOperationKeys.operationList()) ?? { unfinished: [], finished: [] }
}

function fileFinished(draft: Draft, operationId: string): void {
  const list = listOf(draft)
  const finished = [...list.finished, operationId]
  for (const oldest of finished.slice(0, -FINISHED_MAX)) draft.remove(longOperationKeys.operation(oldest))
  const unfinished = list.unfinished.filter((id) => id !== operationId)
  draft.put(longOperationKeys.operationList(), { unfinished, finished: finished.slice(-FINISHED_MAX) })
}
