/**
 * A clock that continues from the time of the log.
 *
 * Owns: the time that due times are compared with between two entries. Knows nothing of: deliveries.
 * Rule: due times are compared with the clock that made them: while the time of the log is ahead of all clocks it stands
 * still, and a delivery due some seconds later must not wait until the clocks have reached it.
 */
import type { ClusterTimePort } from '../../../cluster/index.ts'

export interface LogClockParts {
  readonly time: ClusterTimePort
  /** ms; only differences mean anything. */
  readonly monotonic: () => number
}

export class LogClock {
  readonly #parts: LogClockParts
  #seen: { readonly logTime: number; readonly at: number } = { logTime: 0, at: 0 }

  constructor(parts: LogClockParts) {
    this.#parts = parts
  }

  /** ms since 1970 */
  now(): number {
    const { time, monotonic } = this.#parts
    const { logTime } = time.status()
    if (logTime !== this.#seen.logTime) this.#seen = { logTime, at: monotonic() }
    return Math.max(time.now(), logTime + Math.trunc(monotonic() - this.#seen.at))
  }
}
