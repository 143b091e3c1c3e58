/**
 * Real time behind the Clock port.
 *
 * Owns: the only calls to performance, Date and setTimeout in cluster/.
 * Rules: all threads of a process have the same `now`; a delay longer than Node's timers can hold is a bug of the caller; Node would fire it at once.
 */
import assert from 'node:assert/strict'
import type { Clock, Timer } from './clock.ts'

/** Node keeps delays in a signed 32-bit integer and turns larger delays into 1 ms. */
const DELAY_MS_MAX = 2 ** 31 - 1

/** From the start of this thread, which performance counts from, to that of the machine's monotonic clock. ms */
const SHIFT_MS = monotonicMs() - performance.now()

export class SystemClock implements Clock {
  now(): number {
    return performance.now() + SHIFT_MS
  }

  wallTime(): number {
    return Date.now()
  }

  after(ms: number, callback: () => void): Timer {
    assert(ms >= 0 && ms <= DELAY_MS_MAX, `a timer of ${ms} ms does not fit into Node's timers`)
    const timeout = setTimeout(callback, ms)
    return { cancel: () => clearTimeout(timeout) }
  }
}

function monotonicMs(): number {
  const [seconds, nanos] = process.hrtime()
  return seconds * 1e3 + nanos / 1e6
}
