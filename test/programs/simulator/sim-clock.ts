/**
 * The clock of one process: its own rate, its own idea of the date.
 *
 * Rule: its timers are events of the process; they wait while it is paused and end with it.
 */
import type { Clock, Timer } from '../../../cluster/base/clock.ts'
import type { Owner } from './event-queue.ts'
import type { Stage } from './stage.ts'

export interface SimClockOptions {
  readonly stage: Stage
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
    this.#start = options.stage.now
  }

  now(): number {
    const { stage, rate } = this.#options
    return (stage.now - this.#start) * rate()
  }

  wallTime(): number {
    return this.#options.wallTime()
  }

  after(ms: number, callback: () => void): Timer {
    const { stage, owner, rate } = this.#options
    const event = stage.after(ms / rate(), 'timer', { owner }, callback)
    return {
      cancel: () => {
        event.isCancelled = true
      },
    }
  }
}
