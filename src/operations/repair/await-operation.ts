/**
 * Waits for the end of an operation, for whoever asked to hear it.
 *
 * Rules: never longer than it was asked for; it ends early when nobody listens any more or the node is about to stop.
 */
import { setTimeout as rest } from 'node:timers/promises'
import { isFinished } from '../../state-machine/operations/operations.ts'
import type { OperationRecord } from '../../state-machine/operations/records.ts'
import type { Services } from '../base/services.ts'

const LOOK_EVERY_MS = 200

/** As it stands then. */
export async function awaitOperation(
  { state, stopping }: Pick<Services, 'state' | 'stopping'>,
  begun: OperationRecord,
  {
    waitMs,
    signal,
    isOver = ({ status }) => isFinished(status),
  }: {
    readonly waitMs: number
    readonly signal: AbortSignal
    readonly isOver?: (operation: OperationRecord) => boolean
  },
): Promise<OperationRecord> {
  const over = AbortSignal.any([signal, stopping])
  const until = performance.now() + waitMs
  for (let seen = begun; ; seen = state.operation(seen.operationId) ?? seen) {
    const leftMs = until - performance.now()
    if (isOver(seen) || isFinished(seen.status) || leftMs <= 0 || over.aborted) return seen
    await rest(Math.min(LOOK_EVERY_MS, leftMs), undefined, { signal: over }).catch(() => undefined)
  }
}
