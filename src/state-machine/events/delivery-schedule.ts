/**
 * When a failed attempt is repeated, and after which one the delivery is dead.
 *
 * Owns: the schedule of the contract and its bounds. [decisions 9] Knows nothing of: rows, clocks.
 */
const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE

/** The delay after the first failed attempt, after the second, and so on; there is no attempt after the last delay's. */
const DELAYS_MS = [
  5 * SECOND,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  14 * HOUR,
  20 * HOUR,
  24 * HOUR,
] as const
export const ATTEMPTS_MAX: number = DELAYS_MS.length + 1
const JITTER_SHARE = 0.2
/** The longest pause that a receiver can request. */
export const RETRY_AFTER_MS_MAX: number = 24 * HOUR
/** Only failures for this long suspend the config. */
export const SUSPEND_AFTER_MS: number = 72 * HOUR

/** No attempt is due later than this after it was scheduled. */
export const DELAY_MS_MAX: number = Math.max(...DELAYS_MS) * (1 + JITTER_SHARE) + RETRY_AFTER_MS_MAX

/** Whether a due time has come. One too far ahead was set before the log time was set back, and counts as come. */
export function hasCome(at: number, now: number): boolean {
  return at <= now || at > now + DELAY_MS_MAX
}

/** The delay after `attempts` failed attempts; null: no more attempts. `jitter` is clamped to [-1, 1]. */
export function delayAfter(
  attempts: number,
  { jitter, retryAfterMs }: { readonly jitter: number; readonly retryAfterMs: number | null },
): number | null {
  const delay = DELAYS_MS[attempts - 1]
  if (delay === undefined) return null
  const spread = 1 + JITTER_SHARE * Math.max(-1, Math.min(1, jitter))
  return Math.max(Math.round(delay * spread), pauseFor(retryAfterMs))
}

/** The pause that a receiver requested, bounded. */
export function pauseFor(retryAfterMs: number | null): number {
  return Math.round(Math.max(0, Math.min(retryAfterMs ?? 0, RETRY_AFTER_MS_MAX)))
}
