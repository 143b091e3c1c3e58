/**
 * Real time behind the Clock port.
 *
 * Owns: the only calls to performance, Date and setTimeout in cluster/.
 * Rules: all threads of a process have the same `now`; a delay longer than Node's timers can hold is a bug of the caller; Node would fire it at once.
 */
import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { type Clock, ROUND_BEAT_MS, type Timer } from './clock.ts'

/** Node keeps delays in a signed 32-bit integer and turns larger delays into 1 ms. */
const DELAY_MS_MAX = 2 ** 31 - 1

/**
 * Where the beats of this process lie. By chance: processes that are started together would otherwise tick together, and followers that miss
 * their leader in the same tick split the votes. ms
 */
const PHASE_MS = randomInt(ROUND_BEAT_MS)

/** How late a timer usually fires at most. ms */
const LATE_MS = 20

/** From the start of this thread, which performance counts from, to that of the machine's monotonic clock. ms */
const SHIFT_MS = monotonicMs() - performance.now()

export class SystemClock implements Clock {
  now(): number {
    return performance.now() + SHIFT_MS
  }

  wallTime(): number {
    return Date.now()
  }

  after(ms: number, callback: () => void, isRound = false): Timer {
    assert(ms >= 0 && ms <= DELAY_MS_MAX, `a timer of ${ms} ms does not fit into Node's timers`)
    const timeout = setTimeout(callback, isRound ? toBeatMs(ms, beatTime()) : ms)
    return { cancel: () => clearTimeout(timeout) }
  }
}

/** The time whose multiples of ROUND_BEAT_MS are the beats of this thread. ms */
export const beatTime = (): number => performance.now() + PHASE_MS

/** From `now`, as `beatTime` has it, to the last beat within `ms`. A timer that fired some ms late does not lose its beat. */
export function toBeatMs(ms: number, now: number): number {
  const beat = Math.floor((now + ms + LATE_MS) / ROUND_BEAT_MS) * ROUND_BEAT_MS
  return ms < ROUND_BEAT_MS / 2 ? ms : Math.max(Math.ceil(beat - now), Math.ceil(ms / 2))
}

function monotonicMs(): number {
  const [seconds, nanos] = process.hrtime()
  return seconds * 1e3 + nanos / 1e6
}
