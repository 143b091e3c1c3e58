/**
 * A token bucket that may go into debt.
 *
 * Owns: one level; pure, time is passed in. Knows nothing of: whose level it is. Rules: what was used is always taken off, also what no
 * caller asked for first, so that over a long time no more is used than was refilled; the debt is bounded, because what other nodes
 * report is taken off as well and may be wrong.
 */
export interface BucketRate {
  /** 0: no limit. */
  readonly perSecond: number
  /** How many may come at once after a quiet time. */
  readonly burst: number
}

/** The largest debt, in seconds of the rate. */
const DEBT_SECONDS_MAX = 60

export class TokenBucket {
  #rate: BucketRate
  #tokens: number
  /** On the clock of the caller, in milliseconds. */
  #at: number

  constructor(rate: BucketRate, nowMs: number) {
    this.#rate = rate
    this.#tokens = rate.burst
    this.#at = nowMs
  }

  get rate(): BucketRate {
    return this.#rate
  }

  /** A level above the new burst is lost; a debt stays. */
  setRate(rate: BucketRate, nowMs: number): void {
    const before = this.#rate
    this.#refill(nowMs)
    this.#rate = rate
    this.#tokens = before.perSecond === 0 ? rate.burst : Math.min(rate.burst, this.#tokens)
  }

  /** Milliseconds until there are so many; 0: they are there. */
  waitMs(count: number, nowMs: number): number {
    if (this.#rate.perSecond === 0) return 0
    this.#refill(nowMs)
    const missing = count - this.#tokens
    return missing <= 0 ? 0 : (missing / this.#rate.perSecond) * 1000
  }

  /** Takes so many off, whether or not they are there. */
  charge(count: number, nowMs: number): void {
    if (this.#rate.perSecond === 0) return
    this.#refill(nowMs)
    this.#tokens = Math.max(this.#tokens - count, -this.#rate.perSecond * DEBT_SECONDS_MAX)
  }

  /** Whole tokens that are there; Infinity without a limit. */
  left(nowMs: number): number {
    if (this.#rate.perSecond === 0) return Infinity
    this.#refill(nowMs)
    return Math.max(0, Math.floor(this.#tokens))
  }

  /** Nothing would be lost if it was forgotten now. */
  isFull(nowMs: number): boolean {
    this.#refill(nowMs)
    return this.#rate.perSecond === 0 || this.#tokens >= this.#rate.burst
  }

  /** A clock that was set back gives nothing; it takes nothing away either. */
  #refill(nowMs: number): void {
    const gained = (Math.max(0, nowMs - this.#at) * this.#rate.perSecond) / 1000
    this.#tokens = Math.min(this.#rate.burst, this.#tokens + gained)
    this.#at = nowMs
  }
}
