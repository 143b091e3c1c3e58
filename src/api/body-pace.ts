/**
 * Whether the body of a request comes, or that of an answer is taken, fast enough to be waited for.
 *
 * Owns: the decision; pure. Knows nothing of: sockets, clocks.
 * Rules: only time spent waiting for the client counts, never time in which this node was busy with what it has. Complete
 * silence is ended by the time limit of the socket; this is for bytes that drip, which would hold an upload's memory indefinitely.
 */
const WINDOW_MS = 60_000

export class BodyPace {
  readonly #bytesPerMinuteMin: number
  #waitedMs = 0
  #bytes = 0

  /** 0: any pace will do. */
  constructor(bytesPerMinuteMin: number) {
    this.#bytesPerMinuteMin = bytesPerMinuteMin
  }

  /** While a piece is waited for: true once it would be too slow even if it came whole now. */
  isHopeless(bytes: number, waitedMs: number): boolean {
    const allMs = this.#waitedMs + waitedMs
    return allMs >= WINDOW_MS && this.#bytes + bytes < (this.#bytesPerMinuteMin * allMs) / WINDOW_MS
  }

  /** After each piece, with the time that was spent waiting for it. True from the end of the first minute of waiting that brought too little. */
  isTooSlow(bytes: number, waitedMs: number): boolean {
    this.#bytes += bytes
    this.#waitedMs += waitedMs
    if (this.#waitedMs < WINDOW_MS) return false
    // A wait may last longer than a minute, and what is asked for grows with it.
    const isSlow = this.#bytes < (this.#bytesPerMinuteMin * this.#waitedMs) / WINDOW_MS
    this.#bytes = 0
    this.#waitedMs = 0
    return isSlow
  }
}
