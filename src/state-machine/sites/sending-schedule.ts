/**
 * When a change that could not be sent is tried again, and after which attempt it is given up.
 *
 * Owns: the schedule and its bounds. Knows nothing of: rows, clocks.
 */
const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE

/** The delay after the first failed attempt, after the second, and so on. */
const DELAYS_MS = [
  5 * SECOND,
  30 * SECOND,
  2 * MINUTE,
  10 * MINUTE,
  30 * MINUTE,
  HOUR,
  2 * HOUR,
  4 * HOUR,
  8 * HOUR,
  8 * HOUR,
] as const
export const SEND_ATTEMPTS_MAX: number = DELAYS_MS.length + 1
const FIRST_PAUSE_MS = SECOND
const PAUSE_MS_MAX = MINUTE
const RETRY_AFTER_MS_MAX = HOUR
const JITTER_SHARE = 0.2

/** No attempt is due later than this after it was scheduled. */
export const SEND_DELAY_MS_MAX: number = Math.max(...DELAYS_MS) * (1 + JITTER_SHARE) + RETRY_AFTER_MS_MAX

interface Asked {
  /** Clamped to [-1, 1]. */
  readonly jitter: number
  readonly retryAfterMs: number | null
}

/** The delay after `attempts` failed attempts of one change; null: no more attempts. */
export function sendDelay(attempts: number, asked: Asked): number | null {
  const delay = DELAYS_MS[attempts - 1]
  return delay === undefined ? null : spread(delay, asked)
}

/** How long nothing is sent to a target that did not answer `failures` times. */
export function pauseAfter(failures: number, asked: Asked): number {
  const doubled = FIRST_PAUSE_MS * 2 ** Math.min(failures - 1, 20)
  return spread(Math.min(doubled, PAUSE_MS_MAX), asked)
}

/** Whether a due time has come. One too far ahead was set before the log time was set back, and counts as come. */
export function sendIsDue(at: number, now: number): boolean {
  return at <= now || at > now + SEND_DELAY_MS_MAX
}

function spread(delay: number, { jitter, retryAfterMs }: Asked): number {
  const share = 1 + JITTER_SHARE * Math.max(-1, Math.min(1, jitter))
  const asked = Math.max(0, Math.min(retryAfterMs ?? 0, RETRY_AFTER_MS_MAX))
  return Math.round(Math.max(delay * share, asked))
}
