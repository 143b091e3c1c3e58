/**
 * The clock of one process: its own rate and wall time.
 *
 * Rule: its timers are events of the process; they wait while it is paused and end with it.
 */
import type { Clock, Timer } from '../../../cluster/base/clock.ts'
import type { Owner } from './event-queue.ts'
import type { SimScheduler } from './sim-scheduler.ts'

export interface SimClockOptions {
  readonly scheduler: SimScheduler
  readonly owner: Owner
  /** Seconds of this clock per second of the world. */
  readonly rate: () => number
  /** ms since 1970, jumps included. */
  readonly wallTime: () => number
}

export class SimClock implements Clock {
  readonly #options: SimClockOptions
  readonly #start: number

  constructor(options: SimClockOptions) {
    this.#options = options
    this.#start = options.scheduler.now
  }

  now(): number {
    const { scheduler, rate } = this.#options
    return (scheduler.now - this.#start) * rate()
  }

  wallTime(): number {
    return this.#options.wallTime()
  }

  after(ms: number, callback: () => void): Timer {
    const { scheduler, owner, rate } = this.#options
    const event = scheduler.after(ms / rate(), 'timer', { owner }, callback)
    return {
      cancel: () => {
        event.isCancelled = true
      },
    }
  }
}
