/**
 * Whether and after how long a call is repeated. [native: Errors, client convention]
 *
 * Owns: the decision; pure. Rule: a call that may have changed something is repeated only if repeating it changes nothing more: because
 * of its method, or because of its idempotency key. Repeating does not help after a 501 or 507.
 */
import type { Request } from './operation.ts'

export interface RepeatPolicy {
  /** Attempts of one call, including the first. */
  readonly attemptsMax: number
  readonly firstDelayMs: number
  readonly delayMsMax: number
  /** The call fails if the server requests a longer wait. */
  readonly retryAfterMsMax: number
}

export const REPEAT_POLICY: RepeatPolicy = {
  attemptsMax: 5,
  firstDelayMs: 100,
  delayMsMax: 5_000,
  retryAfterMsMax: 60_000,
}

const SAFE_METHODS: readonly string[] = ['GET', 'HEAD', 'DELETE']
const IDEMPOTENCY_KEYS = ['idempotency-key', 'x-service-idempotency-key']

export function mayRepeat({ method, headers }: Request): boolean {
  if (SAFE_METHODS.includes(method)) return true
  return Object.keys(headers).some((name) => IDEMPOTENCY_KEYS.includes(name.toLowerCase()))
}

export function isPassing(status: number): boolean {
  return status === 429 || (status >= 500 && status !== 501 && status !== 507)
}

interface Failed {
  /** The attempts so far. */
  readonly attempts: number
  /** The header of the answer; undefined without an answer or without the header. */
  readonly retryAfter: string | undefined
  readonly now: number
  /** 0 to 1. */
  readonly chance: number
}

/** Milliseconds; null: give up. Doubles with each attempt; half of it is random, so that clients do not return all at once. */
export function delayBefore(policy: RepeatPolicy, failed: Failed): number | null {
  const { attempts, retryAfter, now, chance } = failed
  if (attempts >= policy.attemptsMax) return null
  const backoff = Math.min(policy.delayMsMax, policy.firstDelayMs * 2 ** (attempts - 1))
  const jittered = backoff / 2 + (backoff / 2) * chance
  const requestedMs = retryAfter === undefined ? 0 : (retryAfterMs(retryAfter, now) ?? 0)
  if (requestedMs > policy.retryAfterMsMax) return null
  // Spread after the requested time, because all clients get the same one.
  return Math.max(jittered, requestedMs === 0 ? 0 : requestedMs + policy.firstDelayMs * chance)
}

/** Seconds, or an HTTP date; null when it is neither. [RFC 9110 10.2.3] */
export function retryAfterMs(text: string, now: number): number | null {
  if (/^\d{1,9}$/.test(text.trim())) return Number(text) * 1000
  const at = Date.parse(text)
  return Number.isNaN(at) ? null : Math.max(0, at - now)
}
