/**
 * Waits for the end of an operation, for a caller that asked to wait.
 *
 * Rules: never longer than it was asked for; it ends early when the client has left or the node is about to stop.
 */
import { setTimeout as rest } from 'node:timers/promises'
import { isFinished } from '../../state-machine/long-operations/operations.ts'
import type { LongOperation } from '../../state-machine/long-operations/records.ts'
import type { Services } from '../base/services.ts'
import { longOperationKeys } from '../../state-machine/long-operations/keys.ts'

const LOOK_EVERY_MS = 200

/** As it stands then. */
export async function awaitOperation(
  { state, stopping }: Pick<Services, 'state' | 'stopping'>,
  started: LongOperation,
  {
    waitMs,
    signal,
    isOver = ({ status }) => isFinished(status),
  }: {
    readonly waitMs: number
    readonly signal: AbortSignal
    readonly isOver?: (operation: LongOperation) => boolean
  },
): Promise<LongOperation> {
  const over = AbortSignal.any([signal, stopping])
  const until = performance.now() + waitMs
  for (let seen = started; ; seen = state.get(longOperationKeys.operation(seen.operationId)) ?? seen) {
    const leftMs = until - performance.now()
    if (isOver(seen) || isFinished(seen.status) || leftMs <= 0 || over.aborted) return seen
    await rest(Math.min(LOOK_EVERY_MS, leftMs), undefined, { signal: over }).catch(() => undefined)
  }
}
