/**
 * The answer to a caller that asks too often, and the headers that say what is left to a caller.
 */
import { Refusal } from '../base/refusal.ts'
import type { RateHeaders } from './access.ts'
import type { RateLimiter, RateStatus } from './rate-limiter.ts'

/** Throws Refusal rate_limited. */
export function take(limiter: RateLimiter, caller: string): void {
  const waitMs = limiter.take(caller)
  if (waitMs === null) return
  throw new Refusal('rate_limited', `More than ${limiter.limits.perMinute} requests a minute`, {
    retryAfterSeconds: Math.ceil(waitMs / 1000),
    headers: rateHeaders(limiter, { left: 0, nextMs: waitMs }),
  })
}

/** As the draft of the IETF on RateLimit header fields names them. [decisions 1] */
export function rateHeaders({ limits }: RateLimiter, { left, nextMs }: RateStatus): RateHeaders {
  return {
    'ratelimit-policy': `"default";q=${limits.perMinute};w=60;burst=${limits.burst}`,
    ratelimit: `"default";r=${left};t=${Math.ceil(nextMs / 1000)}`,
  }
}
