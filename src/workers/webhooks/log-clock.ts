/**
 * A clock that goes on from the time of the log.
 *
 * Owns: how what the log has made due is judged between two entries. Knows nothing of: deliveries.
 * Rule: due times are compared with the clock that made them: where the time of the log is ahead of everybody's clocks it stands
 * still, and what waits for some seconds after it must not wait until they have come up to it.
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
