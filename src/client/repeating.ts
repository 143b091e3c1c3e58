/**
 * Whether a call is made again, and after how long. [native: Errors, client convention]
 *
 * Owns: the decision; pure. Rule: what may have changed something is repeated only where repeating changes nothing more: by
 * its method, or by its idempotency key. A 501 and a 507 are 5xx that no repeating helps.
 */
import type { Request } from './base/operation.ts'

export interface RepeatPolicy {
  /** Of one call, the first included. */
  readonly attemptsMax: number
  readonly firstDelayMs: number
  readonly delayMsMax: number
  /** A server that asks for a longer wait than this is not asked again. */
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
  /** How many attempts there were. */
  readonly attempts: number
  /** Of the answer; undefined when there was none, or it has none. */
  readonly retryAfter: string | undefined
  readonly now: number
  /** 0 to 1. */
  readonly chance: number
}

/** Milliseconds; null: give up. Doubles from attempt to attempt, and half of it is chance, so that clients do not come back all at once. */
export function delayBefore(policy: RepeatPolicy, failed: Failed): number | null {
  const { attempts, retryAfter, now, chance } = failed
  if (attempts >= policy.attemptsMax) return null
  const backoff = Math.min(policy.delayMsMax, policy.firstDelayMs * 2 ** (attempts - 1))
  const jittered = backoff / 2 + (backoff / 2) * chance
  const asked = retryAfter === undefined ? 0 : (retryAfterMs(retryAfter, now) ?? 0)
  if (asked > policy.retryAfterMsMax) return null
  // Spread behind the moment that was asked for, for all were told the same one.
  return Math.max(jittered, asked === 0 ? 0 : asked + policy.firstDelayMs * chance)
}

/** Seconds, or an HTTP date; null when it is neither. [RFC 9110 10.2.3] */
export function retryAfterMs(text: string, now: number): number | null {
  if (/^\d{1,9}$/.test(text.trim())) return Number(text) * 1000
  const at = Date.parse(text)
  return Number.isNaN(at) ? null : Math.max(0, at - now)
}
