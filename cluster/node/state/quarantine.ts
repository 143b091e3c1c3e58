/**
 * The first step of a node about damage of its own state.
 *
 * Owns: distinguishing damage from other failures, and the durable mark. Knows nothing of: rows; what follows.
 * Rule: the mark is made before the process may end, so that the next start repairs instead of trusting a state that looks intact.
 */
import { type Logger, StateDamagedError, type StateMachine } from '../../base/types.ts'

/** The damage at the root of a failure, or null. */
export function damageIn(error: unknown): StateDamagedError | null {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof StateDamagedError) return cause
  }
  return null
}

/** Resolves with true when the mark is durable, with false when it cannot be made. Never rejects. */
export async function quarantine(
  stateMachine: StateMachine,
  damage: StateDamagedError,
  logger: Logger,
): Promise<boolean> {
  try {
    await stateMachine.quarantine(damage.message)
    logger.error({ why: damage.message }, 'state is not trusted any more')
    return true
  } catch (error) {
    // Then the process stops. After such an end the state machine verifies all rows when it is opened.
    logger.error({ err: error, why: damage.message }, 'state could not be marked as damaged')
    return false
  }
}
