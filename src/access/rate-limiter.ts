/**
 * Token buckets, one per caller.
 *
 * Owns: counting. Knows nothing of: what is limited, or where time comes from.
 * Rule: memory is bounded. When the map is full the caller seen longest ago is forgotten, which gives it a full
 * bucket again; so callers that anyone can invent and callers that are known belong into different limiters.
 */
export interface RateLimits {
  readonly perMinute: number
  /** How many may come at once after a quiet time. */
  readonly burst: number
  /** Callers remembered at the same time. */
  readonly callersMax: number
}

export interface RateStatus {
  readonly left: number
  /** Until there is one more. */
  readonly nextMs: number
}

interface Level {
  tokens: number
  at: number
}

const MINUTE_MS = 60_000

export class RateLimiter {
  readonly limits: RateLimits
  readonly #now: () => number
  /** In the order of last use, longest ago first. */
  readonly #levels = new Map<string, Level>()

  constructor(limits: RateLimits, now: () => number) {
    this.limits = limits
    this.#now = now
  }

  /** Takes one; null when allowed, otherwise the milliseconds until the next one will be there. */
  take(caller: string): number | null {
    const level = this.#refilled(caller)
    if (level.tokens < 1) return Math.ceil((1 - level.tokens) / this.#perMs)
    level.tokens -= 1
    return null
  }

  /** What the next requests of the caller may count on. Takes nothing. */
  rateStatus(caller: string): RateStatus {
    const { tokens } = this.#refilled(caller)
    const left = Math.floor(tokens)
    return { left, nextMs: Math.ceil((left + 1 - tokens) / this.#perMs) }
  }

  get size(): number {
    return this.#levels.size
  }

  get #perMs(): number {
    return this.limits.perMinute / MINUTE_MS
  }

  #refilled(caller: string): Level {
    const now = this.#now()
    const level = this.#levels.get(caller) ?? { tokens: this.limits.burst, at: now }
    // A clock that was set back gives nothing; it takes nothing away either.
    const gained = Math.max(0, now - level.at) * this.#perMs
    level.tokens = Math.min(this.limits.burst, level.tokens + gained)
    level.at = now
    this.#levels.delete(caller)
    this.#levels.set(caller, level)
    this.#forgetOldest()
    return level
  }

  #forgetOldest(): void {
    if (this.#levels.size <= this.limits.callersMax) return
    for (const oldest of this.#levels.keys()) {
      this.#levels.delete(oldest)
      return
    }
  }
}
