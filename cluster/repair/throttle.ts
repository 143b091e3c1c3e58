/**
 * Bytes per second, kept by waiting: one budget for everything that reads or copies blobs in the background.
 *
 * Rules: never ahead of the rate by more than one piece for each that waits, and unused time is not saved up for a burst; who
 * waits goes in the order of coming; a new rate holds at once, also for those that wait already.
 */
import type { Clock, Timer } from '../base/clock.ts'

/** A wait is looked at again after this long, so that no rate makes a timer longer than a timer can be. */
const TIMER_MS_MAX = 60_000

interface Waiter {
  /** Goes on when so many bytes have been paid for since the beginning. */
  at: number
  readonly go: () => void
}

export class Throttle {
  readonly #clock: Clock
  #bytesPerMs = Infinity
  #isClosed = false
  /** Bytes asked for since the beginning, and how many of them the rate has covered at `#since`. */
  #asked = 0
  #paid = 0
  #since = 0
  #waiters: Waiter[] = []
  #timer: Timer | null = null

  /** Null: no limit. */
  constructor(clock: Clock, bytesPerSecond: number | null) {
    this.#clock = clock
    this.setRate(bytesPerSecond)
  }

  get bytesPerSecond(): number | null {
    return this.#bytesPerMs === Infinity ? null : this.#bytesPerMs * 1000
  }

  setRate(bytesPerSecond: number | null): void {
    if (bytesPerSecond !== null && !(bytesPerSecond > 0 && bytesPerSecond < Infinity)) {
      throw new RangeError(
        `Cannot throttle to ${bytesPerSecond} bytes per second: give a number above 0, or null`,
      )
    }
    this.#pay()
    this.#bytesPerMs = bytesPerSecond === null ? Infinity : bytesPerSecond / 1000
    this.#release()
  }

  /** Resolves when these bytes have been paid for, or when the signal says that they are not wanted any more. */
  async pass(bytes: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted === true) return
    this.#pay()
    this.#asked += bytes
    const at = this.#asked
    await new Promise<void>((resolve) => {
      const leave = (): void => this.#giveUp(waiter, bytes)
      const go = (): void => {
        signal?.removeEventListener('abort', leave)
        resolve()
      }
      const waiter: Waiter = { at, go }
      signal?.addEventListener('abort', leave, { once: true })
      this.#waiters.push(waiter)
      this.#release()
    })
  }

  /** Holds nobody up any more, for a node that stops. */
  close(): void {
    this.#isClosed = true
    this.#release()
  }

  /** Those behind it do not pay for what was not wanted. */
  #giveUp(waiter: Waiter, bytes: number): void {
    const place = this.#waiters.indexOf(waiter)
    for (const later of this.#waiters.splice(place).slice(1)) {
      later.at -= bytes
      this.#waiters.push(later)
    }
    this.#asked -= bytes
    this.#pay()
    this.#paid = Math.min(this.#paid, this.#asked)
    waiter.go()
    this.#release()
  }

  /** Brings `#paid` up to now. */
  #pay(): void {
    const now = this.#clock.now()
    const elapsed = now - this.#since
    this.#since = now
    if (elapsed > 0) this.#paid = Math.min(this.#asked, this.#paid + elapsed * this.#bytesPerMs)
  }

  #release(): void {
    if (this.#isClosed || this.#bytesPerMs === Infinity) this.#paid = this.#asked
    // A fraction of a byte is not worth a timer: rounding would otherwise ask for one of no length for ever.
    const first = this.#waiters.findIndex(({ at }) => at > this.#paid + 0.5)
    const ready = this.#waiters.splice(0, first === -1 ? this.#waiters.length : first)
    for (const { go } of ready) go()
    this.#timer?.cancel()
    this.#timer = null
    const [next] = this.#waiters
    if (next === undefined) return
    const waitMs = Math.min(TIMER_MS_MAX, (next.at - this.#paid) / this.#bytesPerMs)
    this.#timer = this.#clock.after(waitMs, () => {
      this.#pay()
      this.#release()
    })
  }
}
