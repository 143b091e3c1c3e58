/**
 * Time that moves only when a test says so.
 *
 * Owns: a queue of timers, run in order of (due time, order of creation), one at a time.
 * Rule: between two timers every pending promise and immediate settles first, so the same
 * program takes the same path on every run. Real disks and sockets are outside of that promise.
 */
import assert from 'node:assert/strict'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Clock, Timer } from '../../../cluster/base/clock.ts'

interface QueuedTimer extends Timer {
  readonly due: number
  readonly callback: () => void
}

export interface VirtualClockOptions {
  /** Wall time at the start, ms since 1970. */
  readonly epochMs?: number
  /** Turns of the event loop that are given away between two timers. */
  readonly settleTurns?: number
}

/** Turns without any timer after which runUntil gives up: nothing that could change the condition is left. */
const IDLE_TURNS_MAX = 1000

export class VirtualClock implements Clock {
  readonly #epochMs: number
  readonly #settleTurns: number
  #now = 0
  #queue: QueuedTimer[] = []
  #moving = false

  constructor(options: VirtualClockOptions = {}) {
    this.#epochMs = options.epochMs ?? 1_767_225_600_000
    this.#settleTurns = options.settleTurns ?? 2
  }

  now(): number {
    return this.#now
  }

  wallTime(): number {
    return this.#epochMs + Math.floor(this.#now)
  }

  after(ms: number, callback: () => void): Timer {
    assert(ms >= 0 && Number.isFinite(ms), `a timer cannot be set ${ms} ms ahead`)
    const timer: QueuedTimer = {
      due: this.#now + ms,
      callback,
      cancel: () => this.#remove(timer),
    }
    this.#queue.splice(this.#placeOf(timer), 0, timer)
    return timer
  }

  /** Timers that have neither run nor been cancelled. */
  get pending(): number {
    return this.#queue.length
  }

  /** Moves time forward by exactly `ms`, running every timer that falls due, those set on the way included. */
  async advance(ms: number): Promise<void> {
    assert(ms >= 0 && Number.isFinite(ms), `time cannot move by ${ms} ms`)
    await this.#exclusively(async () => {
      const target = this.#now + ms
      await this.settle()
      while (await this.#runNext(target)) continue
      this.#now = target
    })
  }

  /** Runs timers until the condition holds. Throws when `limitMs` of virtual time passed or nothing is left to run. */
  async runUntil(condition: () => boolean, options: { readonly limitMs: number }): Promise<void> {
    await this.#exclusively(async () => {
      const limit = this.#now + options.limitMs
      await this.settle()
      for (let idleTurns = 0; !condition(); ) {
        if (await this.#runNext(limit)) idleTurns = 0
        else if (this.#queue.length > 0)
          throw new Error(`Condition not met within ${options.limitMs} ms: ${condition.toString()}`)
        else if (++idleTurns > IDLE_TURNS_MAX)
          throw new Error(`Condition not met and no timer is left: ${condition.toString()}`)
        else await nextTurn()
      }
    })
  }

  /** Runs timers until the promise has settled and gives its outcome. */
  async resolve<T>(promise: Promise<T>, options: { readonly limitMs: number }): Promise<T> {
    let done = false
    const finished = () => {
      done = true
    }
    promise.then(finished, finished)
    await this.runUntil(() => done, options)
    return promise
  }

  /** Lets everything that needs no timer finish. */
  async settle(): Promise<void> {
    for (let turn = 0; turn < this.#settleTurns; turn++) await nextTurn()
  }

  async #runNext(limit: number): Promise<boolean> {
    const next = this.#queue[0]
    if (next === undefined || next.due > limit) return false
    this.#queue.shift()
    this.#now = next.due
    next.callback()
    await this.settle()
    return true
  }

  async #exclusively(move: () => Promise<void>): Promise<void> {
    assert(!this.#moving, 'two callers cannot move one clock at the same time')
    this.#moving = true
    try {
      await move()
    } finally {
      this.#moving = false
    }
  }

  #remove(timer: QueuedTimer): void {
    const at = this.#queue.indexOf(timer)
    if (at >= 0) this.#queue.splice(at, 1)
  }

  /** Behind every timer that is due no later: timers of one instant run in the order of their creation. */
  #placeOf(timer: QueuedTimer): number {
    let low = 0
    let high = this.#queue.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#queue[middle] as QueuedTimer).due <= timer.due) low = middle + 1
      else high = middle
    }
    return low
  }
}
