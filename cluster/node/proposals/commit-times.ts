/**
 * How long entries of this leader take from their append until a majority has them. Knows nothing of: what is in them.
 *
 * Rule: the log index only rises while this node leads; what it may not commit any more is forgotten.
 */
import type { Clock } from '../../base/clock.ts'
import { LatencyHistogram } from '../../base/latency-histogram.ts'
import type { LogIndex } from '../../raft/types.ts'

/** Entries that are measured at once; more under way are not. */
const MEASURED_MAX = 256

export class CommitTimes {
  readonly #clock: Clock
  readonly #times = new LatencyHistogram()
  readonly #indexes = new Float64Array(MEASURED_MAX)
  readonly #starts = new Float64Array(MEASURED_MAX)
  #first = 0
  #count = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  figures(): ReturnType<LatencyHistogram['figures']> {
    return this.#times.figures()
  }

  onAccepted(index: LogIndex): void {
    if (this.#count >= MEASURED_MAX) return
    const at = (this.#first + this.#count) % MEASURED_MAX
    this.#indexes[at] = index
    this.#starts[at] = this.#clock.now()
    this.#count += 1
  }

  onCommitted(index: LogIndex): void {
    while (this.#count > 0 && (this.#indexes[this.#first] ?? 0) <= index) {
      this.#times.observe((this.#clock.now() - (this.#starts[this.#first] ?? 0)) / 1000)
      this.#first = (this.#first + 1) % MEASURED_MAX
      this.#count -= 1
    }
  }

  onLeadershipLost(): void {
    this.#count = 0
  }
}
