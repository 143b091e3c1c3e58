/**
 * Operations in which each node does a part of its own and says how far it is.
 *
 * Owns: the shares of an operation and its figures, which are their sum. Knows nothing of: what the nodes do.
 * Rules: a share is told whole, so telling it twice counts once; one that is done stays as it is; the last one ends the operation.
 */
import { operationKeys } from './keys.ts'
import type { ApplyContext } from '../base/view.ts'
import type { OperationCommand } from './commands.ts'
import type { Draft } from '../base/draft.ts'
import { NO_PROGRESS, setOperationStatus, workable } from './operations.ts'
import type { OperationProgress, OperationRecord, OperationShare } from './records.ts'
import { type Accepted, accept, type Refused, refuse } from '../base/reply.ts'

export function reportShare(
  draft: Draft,
  command: Extract<OperationCommand, { type: 'reportShare' }>,
  context: ApplyContext,
): Accepted<OperationRecord> | Refused {
  const { operationId, node, share } = command
  const present = workable(draft, operationId, 'report a share')
  if (!present.ok) return present
  const before = present.value.shares?.[node]
  if (before === undefined) {
    return refuse('precondition_failed', `Cannot report a share: "${node}" has none in "${operationId}"`)
  }
  if (before.isDone) return accept(present.value)
  const shares = { ...present.value.shares, [node]: share }
  const operation: OperationRecord = {
    ...present.value,
    status: 'running',
    phase: 'reading copies back',
    startedAt: present.value.startedAt ?? context.time,
    shares,
    progress: sumOf(Object.values(shares)),
  }
  draft.put(operationKeys.operation(operationId), operation)
  if (!Object.values(shares).every(({ isDone }) => isDone)) return accept(operation)
  const end = { type: 'setOperationStatus', operationId, action: 'finish', error: null } as const
  return setOperationStatus(draft, end, context)
}

function sumOf(shares: readonly OperationShare[]): OperationProgress {
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
