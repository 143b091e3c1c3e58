/**
 * How fast a client delivers, as far as it is the client that is waited for.
 *
 * Owns: the figure; pure. Knows nothing of: sockets, clocks; times are milliseconds of one monotonic clock.
 * Rule: only time spent waiting for the client counts, never time in which this node was busy, had no memory or held the body back.
 */

/** Older deliveries count half after so much waiting: a burst does not pay for an hour of silence. */
const HALF_LIFE_MS = 10_000
/** A client is not judged by less waiting than this: each one has a round trip to make first. */
const JUDGED_FROM_MS = 5000
/** A client that has been silent for so long has no speed, whatever it delivered before. */
const SILENCE_MS = 15_000

export class ClientSpeed {
  readonly #heldMs: () => number
  #bytes = 0
  #waitedMs = 0
  #waitingSinceMs: number | null = null
  #heldMsBefore = 0

  /** `heldMs`: for how long the node has held bytes of this client back that had come, the present time included. */
  constructor(heldMs: () => number = () => 0) {
    this.#heldMs = heldMs
  }

  /** The client is asked for its next bytes. */
  asked(nowMs: number): void {
    this.#waitingSinceMs = nowMs
    this.#heldMsBefore = this.#heldMs()
  }

  /** They have arrived; 0: the body has ended. */
  arrived(bytes: number, nowMs: number): void {
    this.#waitedMs += this.#silentMs(nowMs)
    this.#waitingSinceMs = null
    this.#bytes += bytes
    if (this.#waitedMs < 2 * HALF_LIFE_MS) return
    this.#bytes /= 2
    this.#waitedMs /= 2
  }

  /** Bytes a second; null before there is enough to judge by. */
  at(nowMs: number): number | null {
    const silentMs = this.#silentMs(nowMs)
    const waitedMs = this.#waitedMs + silentMs
    if (waitedMs < JUDGED_FROM_MS) return null
    return silentMs >= SILENCE_MS ? 0 : (1000 * this.#bytes) / waitedMs
  }

  #silentMs(nowMs: number): number {
    if (this.#waitingSinceMs === null) return 0
    const heldMs = this.#heldMs() - this.#heldMsBefore
    return Math.max(0, nowMs - this.#waitingSinceMs - heldMs)
  }
}
