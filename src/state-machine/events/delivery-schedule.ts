/**
 * When an attempt that failed is made again, and when it is given up.
 *
 * Owns: the schedule of the contract and its bounds. [decisions 9] Knows nothing of: rows, clocks.
 */
const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE

/** Behind the first attempt, behind the second, and so on; behind the last one nothing comes. */
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
/** A receiver may ask for a longer pause; it gets this one. */
export const RETRY_AFTER_MS_MAX: number = 24 * HOUR
/** Nothing but failures for so long: the config is suspended. */
export const SUSPEND_AFTER_MS: number = 72 * HOUR

/** No attempt is ever due later than this after it was asked for. */
export const DELAY_MS_MAX: number = Math.max(...DELAYS_MS) * (1 + JITTER_SHARE) + RETRY_AFTER_MS_MAX

/** Whether a time that apply gave has come. One too far ahead was given before the time of the log was set back: it has come as well. */
export function hasCome(at: number, now: number): boolean {
  return at <= now || at > now + DELAY_MS_MAX
}

/** After `attempts` of them failed; null: it is given up. `jitter` beyond [-1, 1] counts as its end. */
export function delayAfter(
  attempts: number,
  { jitter, retryAfterMs }: { readonly jitter: number; readonly retryAfterMs: number | null },
): number | null {
  const delay = DELAYS_MS[attempts - 1]
  if (delay === undefined) return null
  const spread = 1 + JITTER_SHARE * Math.max(-1, Math.min(1, jitter))
  return Math.max(Math.round(delay * spread), pauseFor(retryAfterMs))
}

/** What a receiver asked for, bounded. */
export function pauseFor(retryAfterMs: number | null): number {
  return Math.round(Math.max(0, Math.min(retryAfterMs ?? 0, RETRY_AFTER_MS_MAX)))
}
