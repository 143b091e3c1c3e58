/**
 * Bytes per second, kept by waiting.
 *
 * Rule: never ahead of the rate by more than one piece, and unused time is not saved up for a burst.
 */
import type { Clock } from '../node/clock.ts'

export class Throttle {
  readonly #clock: Clock
  readonly #bytesPerSecond: number
  /** When everything let through so far would have been done at the exact rate. */
  #paidUntil = 0

  /** Infinity: no limit. */
  constructor(clock: Clock, bytesPerSecond: number) {
    if (!(bytesPerSecond > 0)) throw new RangeError(`Cannot throttle to ${bytesPerSecond} bytes per second`)
    this.#clock = clock
    this.#bytesPerSecond = bytesPerSecond
  }

  async pass(bytes: number): Promise<void> {
    const now = this.#clock.now()
    this.#paidUntil = Math.max(this.#paidUntil, now) + (bytes / this.#bytesPerSecond) * 1000
    const waitMs = this.#paidUntil - now
    if (waitMs > 0) await new Promise<void>((resolve) => this.#clock.after(waitMs, resolve))
  }
}
