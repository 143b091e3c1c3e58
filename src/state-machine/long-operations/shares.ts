/**
 * Operations in which each node does a share of its own and reports its progress.
 *
 * Owns: the shares of an operation and its progress, which is their sum. Knows nothing of: what the nodes do.
 * Rules: a report holds the totals of a share, so a repeated report counts once; a share that is done does not change; the last one
 * that is done ends the operation.
 */
import { longOperationKeys } from './keys.ts'
import type { ApplyContext } from '../base/view.ts'
import type { LongOperationCommand } from './commands.ts'
import type { Draft } from '../base/draft.ts'
import { NO_PROGRESS, setOperationStatus, workable } from './operations.ts'
import type { LongOperationProgress, LongOperation, LongOperationShare } from './records.ts'
import { type Accepted, accept, type Refused, refuse } from '../base/reply.ts'

export function reportShare(
  draft: Draft,
  command: Extract<LongOperationCommand, { type: 'reportShare' }>,
  context: ApplyContext,
): Accepted<LongOperation> | Refused {
  const { operationId, node, share } = command
  const present = workable(draft, operationId, 'report a share')
  if (!present.ok) return present
  const before = present.value.shares?.[node]
  if (before === undefined) {
    return refuse('precondition_failed', `Cannot report a share: "${node}" has none in "${operationId}"`)
  }
  if (before.isDone) return accept(present.value)
  const shares = { ...present.value.shares, [node]: share }
  const operation: LongOperation = {
    ...present.value,
    status: 'running',
    phase: 'reading copies back',
    startedAt: present.value.startedAt ?? context.time,
    shares,
    progress: sumOf(Object.values(shares)),
  }
  draft.put(longOperationKeys.operation(operationId), operation)
  if (!Object.values(shares).every(({ isDone }) => isDone)) return accept(operation)
  const end = { type: 'setOperationStatus', operationId, action: 'finish', error: null } as const
  return setOperationStatus(draft, end, context)
}

function sumOf(shares: readonly LongOperationShare[]): LongOperationProgress {
  const sum = (figure: 'copies' | 'bytes' | 'lost'): number =>
    shares.reduce((total, share) => total + share[figure], 0)
  const [copies, bytes] = [sum('copies'), sum('bytes')]
  return {
    ...NO_PROGRESS,
    blobsTotal: copies,
    blobsDone: copies,
    bytesTotal: bytes,
    bytesMoved: bytes,
    checksumFailures: sum('lost'),
  }
}
