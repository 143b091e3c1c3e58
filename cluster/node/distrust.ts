/**
 * What a node does about damage of its own state before it stops.
 *
 * Owns: telling damage from other failures, and the durable mark. Knows nothing of: rows.
 * Rule: the mark is made before the process may end, so that the next start mends instead of trusting what looks whole.
 */
import { type Logger, StateDamagedError, type StateMachine } from '../types.ts'

/** The damage at the root of a failure, or null. */
export function damageIn(error: unknown): StateDamagedError | null {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof StateDamagedError) return cause
  }
  return null
}

/** Resolves when the mark is durable, or cannot be made. Never rejects. */
export async function distrust(
  stateMachine: StateMachine,
  damage: StateDamagedError,
  logger: Logger,
): Promise<void> {
  try {
    await stateMachine.distrust(damage.message)
    logger.error({ why: damage.message }, 'state is not trusted any more, the next start replaces it')
  } catch (error) {
    // The process stops all the same. After such an end the state machine verifies all rows when it is opened.
    logger.error({ err: error, why: damage.message }, 'state could not be marked as damaged')
  }
}
