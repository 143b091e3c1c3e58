/**
 * Long operations on copies: what was asked for, how far it is, what came of it.
 *
 * Owns: the rows of operations and their bounded list, the count of their tasks. Knows nothing of: who drives them.
 * Rules: a driver goes on from the cursor that it saw or is refused, so two of them never count the same twice; tasks are
 * counted in the entry that grants or ends them; what has ended never begins again. Recoveries begin in recoveries.ts.
 */
import { tenantKeys } from '../tenants/keys.ts'
import { operationKeys } from './keys.ts'
import type { ApplyContext, View } from '../base/view.ts'
import { isKeyPart } from '../base/row-key.ts'
import type { OperationCommand } from './commands.ts'
import { bucketOf } from '../buckets/find-bucket.ts'
import type { OperationProgress, OperationRecord, OperationShare, OperationStatus } from './records.ts'
import { cancelFault, isRevocable } from './cancelling.ts'
import type { Draft } from '../base/draft.ts'
import { type Accepted, accept, type Refused, refuse } from '../base/reply.ts'

/** The cursor of a driver that has planned all there is. */
export const ALL_PLANNED = 'end'

const UNFINISHED_MAX = 16
/** The oldest is forgotten. */
const FINISHED_MAX = 256

type SetStatus = Extract<OperationCommand, { type: 'setOperationStatus' }>
export type AskedOperation = Omit<Extract<OperationCommand, { type: 'startOperation' }>, 'type' | 'kind'> &
  Pick<OperationRecord, 'kind'>

export const NO_PROGRESS: OperationProgress = {
  blobsTotal: 0,
  blobsDone: 0,
  bytesTotal: 0,
  bytesMoved: 0,
  checksumFailures: 0,
  skipped: 0,
  tasksOpen: 0,
}

/** A share of which nothing was told yet. */
const NOT_BEGUN: OperationShare = { isDone: false, progress: 0, copies: 0, bytes: 0, lost: 0 }

/** What is never done to an operation of this kind, and why. */
const NEVER: Readonly<
  Partial<Record<OperationRecord['kind'], Readonly<Partial<Record<SetStatus['action'], string>>>>>
> = {
  recovery: {
    pause: 'the copies that it makes are needed; lower the rate of repair instead',
    cancel: 'the copies that it makes are needed; lower the rate of repair instead',
  },
  tenantDeletion: { cancel: 'what is gone does not come back; pause it instead' },
  recount: { pause: 'it reads one cut of the rows and cannot go on with another; cancel it instead' },
  join: { pause: 'members change in one go; cancel it instead' },
  replace: { pause: 'members change in one go; cancel it instead' },
  demote: { pause: 'members change in one go' },
  lost: { pause: 'members change in one go' },
  remove: { pause: 'members change in one go' },
}

/** From which states each action leads where. */
const ACTIONS: Readonly<
  Record<SetStatus['action'], { readonly from: readonly OperationStatus[]; readonly to: OperationStatus }>
> = {
  pause: { from: ['queued', 'running'], to: 'paused' },
  resume: { from: ['paused'], to: 'running' },
  cancel: { from: ['queued', 'running', 'paused'], to: 'cancelled' },
  finish: { from: ['queued', 'running'], to: 'succeeded' },
  fail: { from: ['queued', 'running', 'paused'], to: 'failed' },
}

export function isFinished(status: OperationStatus): boolean {
  return status === 'succeeded' || status === 'failed' || status === 'cancelled'
}

/** Idempotent: the same id again answers what stands. */
export function startOperation(
  draft: Draft,
  command: Extract<OperationCommand, { type: 'startOperation' }>,
  context: ApplyContext,
): Accepted<OperationRecord> | Refused {
  const { type: _, ...asked } = command
  const { operationId, tenantId, bucket } = asked
  if (!isKeyPart(operationId))
    return refuse('invalid_argument', 'Cannot start operation: its id is malformed')
  const present = draft.get(operationKeys.operation(operationId))
  if (present !== undefined) return accept(present)
  if (tenantId !== null && draft.get(tenantKeys.tenant(tenantId)) === undefined) {
    return refuse('not_found', `Cannot start operation: tenant "${tenantId}" does not exist`)
  }
  const scope = tenantId !== null && bucket !== null ? bucketOf(draft, tenantId, bucket) : accept(null)
  if (!scope.ok) return scope
  return tooManyOperations(draft) ?? accept(beginOperation(draft, asked, context))
}

/** Null: one more may begin. Recoveries are not asked for, and there is one for each node at most: they neither count nor are refused. */
export function tooManyOperations(view: View): Refused | null {
  const askedFor = unfinishedOperations(view).filter(({ kind }) => kind !== 'recovery').length
  if (askedFor < UNFINISHED_MAX) return null
  return refuse(
    'precondition_failed',
    `Cannot start operation: ${askedFor} are unfinished; wait for one or cancel it`,
  )
}

/** A new row, in the list of those that are unfinished. */
export function beginOperation(
  draft: Draft,
  { nodes, ...asked }: AskedOperation,
  context: ApplyContext,
): OperationRecord {
  const shares = nodes && Object.fromEntries(nodes.map((node) => [node, NOT_BEGUN]))
  const operation: OperationRecord = {
    ...asked,
    ...(shares === undefined ? {} : { shares }),
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
  draft.put(operationKeys.operation(asked.operationId), operation)
  draft.put(operationKeys.operationList(), { unfinished: [...unfinished, asked.operationId], finished })
  return operation
}

/** In the order in which they were asked for. No more than UNFINISHED_MAX and one for each node. */
export function unfinishedOperations(view: View): readonly OperationRecord[] {
  return listOf(view).unfinished.flatMap((id) => view.get(operationKeys.operation(id)) ?? [])
}

/** Compare and set: refused when another driver has moved the cursor since. */
export function advanceOperation(
  draft: Draft,
  command: Extract<OperationCommand, { type: 'advanceOperation' }>,
  context: ApplyContext,
): Accepted<OperationRecord> | Refused {
  const { operationId, from, cursor, phase, counted } = command
  const present = workable(draft, operationId, 'advance operation')
  if (!present.ok) return present
  if (present.value.cursor !== from) {
    return refuse('precondition_failed', `Cannot advance operation: "${operationId}" has moved on`)
  }
  const moved = { ...present.value, cursor, phase, progress: added(present.value.progress, counted) }
  const operation: OperationRecord = {
    ...moved,
    status: 'running',
    startedAt: moved.startedAt ?? context.time,
  }
  draft.put(operationKeys.operation(operationId), operation)
  return accept(operation)
}

/** Idempotent: what stands already may be asked for again. */
export function setOperationStatus(
  draft: Draft,
  command: SetStatus,
  context: ApplyContext,
): Accepted<OperationRecord> | Refused {
  const { operationId, action, error } = command
  const present = draft.get(operationKeys.operation(operationId))
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

/** What has ended is filed with those that have. */
export function withStatus(
  draft: Draft,
  present: OperationRecord,
  status: OperationStatus,
  { time }: Pick<ApplyContext, 'time'>,
): OperationRecord {
  const { operationId } = present
  const finishedAt = isFinished(status) ? time : null
  const operation: OperationRecord = { ...present, status, finishedAt }
  draft.put(operationKeys.operation(operationId), operation)
  if (isFinished(status)) fileFinished(draft, operationId)
  return operation
}

function revoked(draft: Draft, present: OperationRecord): OperationRecord {
  const operation = { ...present, isRevoked: true, phase: 'to be given up, unless votes have moved' }
  draft.put(operationKeys.operation(present.operationId), operation)
  return operation
}

/** The operation, if it may plan and count now. */
export function workable(view: View, operationId: string, what: string): Accepted<OperationRecord> | Refused {
  const present = view.get(operationKeys.operation(operationId))
  if (present === undefined)
    return refuse('not_found', `Cannot ${what}: operation "${operationId}" does not exist`)
  if (present.status === 'queued' || present.status === 'running') return accept(present)
  return refuse('precondition_failed', `Cannot ${what}: operation "${operationId}" is ${present.status}`)
}

/** Of an operation that was forgotten, or of none, nothing is counted. */
export function countTasks(
  draft: Draft,
  operationId: string | null,
  change: Partial<OperationProgress>,
): void {
  const present = operationId === null ? undefined : draft.get(operationKeys.operation(operationId))
  if (present === undefined) return
  draft.put(operationKeys.operation(present.operationId), {
    ...present,
    progress: added(present.progress, change),
  })
}

export function added(progress: OperationProgress, change: Partial<OperationProgress>): OperationProgress {
  const sum: Record<keyof OperationProgress, number> = { ...progress }
  for (const figure of Object.keys(NO_PROGRESS) as (keyof OperationProgress)[])
    sum[figure] += change[figure] ?? 0
  return sum
}

function listOf(view: View): {
  readonly unfinished: readonly string[]
  readonly finished: readonly string[]
} {
  return view.get(operationKeys.operationList()) ?? { unfinished: [], finished: [] }
}

function fileFinished(draft: Draft, operationId: string): void {
  const list = listOf(draft)
  const finished = [...list.finished, operationId]
  for (const forgotten of finished.slice(0, -FINISHED_MAX)) draft.remove(operationKeys.operation(forgotten))
  const unfinished = list.unfinished.filter((id) => id !== operationId)
  draft.put(operationKeys.operationList(), { unfinished, finished: finished.slice(-FINISHED_MAX) })
}
