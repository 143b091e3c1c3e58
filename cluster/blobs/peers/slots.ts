/**
 * A semaphore with bounds: how many run at once, how many wait, and for how long.
 *
 * Rule: the holder of a slot releases it exactly once; a caller that gets no slot receives `slow_down` and has used nothing.
 */
import type { Clock, Timer } from '../../base/clock.ts'
import { Condition } from '../../base/types.ts'

export interface SlotsOptions {
  /** Names the work in the refusal, e.g. "Cannot write a blob". */
  readonly refusal: string
  readonly count: number
  readonly waitersMax: number
  readonly waitMs: number
  readonly clock: Clock
}

interface Waiter {
  readonly timer: Timer
  readonly take: () => void
}

export class Slots {
  readonly #options: SlotsOptions
  readonly #waiters = new Set<Waiter>()
  #used = 0

  constructor(options: SlotsOptions) {
    this.#options = options
  }

  get used(): number {
    return this.#used
  }

  /** Resolves with the function that releases the slot; calling it again does nothing. */
  async acquire(): Promise<() => void> {
    const { count, waitersMax } = this.#options
    if (this.#used < count) this.#used++
    else if (this.#waiters.size >= waitersMax) throw this.#slowDown()
    else await this.#turn()
    let held = true
    return () => {
      if (held) this.#release()
      held = false
    }
  }

  #turn(): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = this.#options.clock.after(this.#options.waitMs, () => {
        this.#waiters.delete(waiter)
        reject(this.#slowDown())
      })
      const waiter: Waiter = { timer, take: resolve }
      this.#waiters.add(waiter)
    })
  }

  /** The slot passes directly to the waiter that waits longest and is never free in between, so no caller overtakes it. */
  #release(): void {
    const [next] = this.#waiters
    if (next === undefined) {
      this.#used--
      return
    }
    this.#waiters.delete(next)
    next.timer.cancel()
    next.take()
  }

  #slowDown(): Condition {
    return new Condition(
      'slow_down',
      `${this.#options.refusal}: ${this.#options.count} are in progress already`,
    )
  }
}
