/**
 * Limits the bytes per second by waiting: one budget for all background work that reads or copies blobs.
 *
 * Rules: the total is never ahead of the rate by more than one piece for each waiter, and unused time is not saved for a burst.
 * Waiters continue in the order of their calls. A new rate applies at once, also to present waiters.
 */
import type { Clock, Timer } from '../base/clock.ts'

/** A wait is computed again after this time, so that no rate needs a timer longer than timers can be. */
const TIMER_MS_MAX = 60_000

interface Waiter {
  /** Continues when the rate has covered this many bytes since the start. */
  at: number
  readonly go: () => void
}

export class Throttle {
  readonly #clock: Clock
  #bytesPerMs = Infinity
  #isClosed = false
  /** Bytes requested since the start, and how many of them the rate has covered at `#since`. */
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

  /** Resolves when the rate has covered these bytes, or when the signal is aborted because they are no longer needed. */
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

  /** Releases all waiters, now and later, for a node that stops. */
  close(): void {
    this.#isClosed = true
    this.#release()
  }

  /** Later waiters do not wait for the bytes of an aborted one. */
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
    // A fraction of a byte needs no timer: rounding would otherwise set timers of length 0 forever.
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
