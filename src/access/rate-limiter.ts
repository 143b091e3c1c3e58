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
  /** Other nodes count the same callers: what each of them takes is kept for `drain`. */
  readonly isShared?: true
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
  /** Taken here and not drained yet; callers of `#levels` at most. */
  readonly #taken = new Map<string, number>()

  constructor(limits: RateLimits, now: () => number) {
    this.limits = limits
    this.#now = now
  }

  /** Takes one; null when allowed, otherwise the milliseconds until the next one will be there. */
  take(caller: string): number | null {
    const level = this.#refilled(caller)
    if (level.tokens < 1) return Math.ceil((1 - level.tokens) / this.#perMs)
    level.tokens -= 1
    if (this.limits.isShared === true) this.#taken.set(caller, (this.#taken.get(caller) ?? 0) + 1)
    return null
  }

  /** What callers took here since the last call, of at most so many callers. */
  drain(countMax: number): readonly (readonly [caller: string, count: number])[] {
    const drained = [...this.#taken].slice(0, countMax)
    for (const [caller] of drained) this.#taken.delete(caller)
    return drained
  }

  /** What a caller took on another node. The debt is bounded by a minute of the rate. */
  charge(caller: string, count: number): void {
    const level = this.#refilled(caller)
    level.tokens = Math.max(level.tokens - count, -this.limits.perMinute)
  }

  /** What the next requests of the caller may count on. Takes nothing. */
  rateStatus(caller: string): RateStatus {
    const { tokens } = this.#refilled(caller)
    const left = Math.max(0, Math.floor(tokens))
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
      this.#taken.delete(oldest)
      return
    }
  }
}
