/**
 * Recoveries: one operation represents all copies that a node has lost at once, until the last of them is made again.
 *
 * Owns: when a recovery starts, what counts as lost. Knows nothing of: how a loss is found, how copies are made.
 * Rules: a node has at most one unfinished recovery, so a second loss joins it and counts only the copies that were there again;
 * a copy is counted in the entry that strikes it off, so `blobsTotal` is always the sum of made, given up and open copies.
 */
import { longOperationKeys } from './keys.ts'
import type { ApplyContext, View } from '../base/view.ts'
import type { Draft } from '../base/draft.ts'
import { added, beginOperation, unfinishedOperations } from './operations.ts'
import type { LongOperation } from './records.ts'

const LAST_COPIES_LOST =
  'Of some chunks the copy of this node was the last one listed; they cannot be made again'

export interface Loss {
  readonly copies: number
  readonly bytes: number
  /** Copies that were the last listed ones of their chunks: no other node can provide them. */
  readonly last: number
}

export function rereplicationOf(view: View, node: string): LongOperation | undefined {
  return unfinishedOperations(view).find((one) => one.kind === 'recovery' && one.node === node)
}

/** Returns the unfinished recovery of the node, or starts one under this id. */
export function openRereplication(
  draft: Draft,
  about: { readonly node: string; readonly operationId: string },
  context: ApplyContext,
): LongOperation {
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
  const recovery = present ?? beginOperation(draft, asked, context)
  const startedAt = recovery.startedAt ?? context.time
  const counting = {
    ...recovery,
    status: 'running',
    phase: 'counting what is lost',
    cursor: '',
    startedAt,
  } as const
  draft.put(longOperationKeys.operation(counting.operationId), counting)
  return counting
}

/** Counts all but the open tasks; those are counted where they are granted. */
export function countLoss(draft: Draft, operationId: string, loss: Loss): void {
  const present = draft.get(longOperationKeys.operation(operationId))
  if (present === undefined) return
  const progress = added(present.progress, { blobsTotal: loss.copies, bytesTotal: loss.bytes })
  const error = loss.last > 0 ? LAST_COPIES_LOST : present.error
  draft.put(longOperationKeys.operation(operationId), { ...present, progress, error })
}
