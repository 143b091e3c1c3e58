/**
 * Recoveries: the operation that stands for all copies which one node has lost at once, from the first to the last that is back.
 *
 * Owns: when one begins, what counts as lost. Knows nothing of: how a loss is found, how copies are made.
 * Rules: a node has one unfinished recovery at most, so losing the same twice begins nothing anew and counts only what was
 * there again; a copy is counted in the entry that strikes it off, so `blobsTotal` is always what is made, given up or open.
 */
import { operationKeys } from './keys.ts'
import type { ApplyContext, View } from '../base/view.ts'
import type { Draft } from '../base/draft.ts'
import { added, beginOperation, unfinishedOperations } from './operations.ts'
import type { OperationRecord } from './records.ts'

const LAST_COPIES_LOST =
  'Of some chunks the copy of this node was the last one listed; they cannot be made again'

export interface Loss {
  readonly copies: number
  readonly bytes: number
  /** Last listed copies: nobody can give them. */
  readonly last: number
}

export function rereplicationOf(view: View, node: string): OperationRecord | undefined {
  return unfinishedOperations(view).find((one) => one.kind === 'recovery' && one.node === node)
}

/** The unfinished one of the node, or a new one under this id. */
export function openRereplication(
  draft: Draft,
  about: { readonly node: string; readonly operationId: string },
  context: ApplyContext,
): OperationRecord {
  const { node, operationId } = about
  const present = rereplicationOf(draft, node)
  const scope = { tenantId: null, bucket: null, node, maxBytesPerSecond: null }
  const asked = {
    operationId,
    kind: 'recovery',
    requestedBy: 'system',
    reason: 'copies are gone',
    ...scope,
  } as const
  const begun = present ?? beginOperation(draft, asked, context)
  const startedAt = begun.startedAt ?? context.time
  const counting = {
    ...begun,
    status: 'running',
    phase: 'counting what is lost',
    cursor: '',
    startedAt,
  } as const
  draft.put(operationKeys.operation(counting.operationId), counting)
  return counting
}

/** Beside the open tasks, which are counted where they are granted. */
export function countLoss(draft: Draft, operationId: string, loss: Loss): void {
  const present = draft.get(operationKeys.operation(operationId))
  if (present === undefined) return
  const progress = added(present.progress, { blobsTotal: loss.copies, bytesTotal: loss.bytes })
  const error = loss.last > 0 ? LAST_COPIES_LOST : present.error
  draft.put(operationKeys.operation(operationId), { ...present, progress, error })
}
