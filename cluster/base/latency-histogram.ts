/**
 * How long something took, counted by bucket.
 *
 * Owns: the bounds, the same for all. Knows nothing of: names, labels, libraries. Rule: an observation allocates nothing, and the figures
 * are plain data, so that they may come from another thread.
 */

/** Upper bounds in seconds, 100 microseconds to 10 seconds. */
export const LATENCY_BOUNDS: readonly number[] = [
  0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
]

export interface LatencyFigures {
  /** Observations up to each bound and above the one before; the last are above all bounds. */
  readonly counts: readonly number[]
  /** Seconds. */
  readonly sum: number
}

/** Where an observation of so many seconds is counted. */
export function bucketOf(seconds: number): number {
  for (let at = 0; at < LATENCY_BOUNDS.length; at++) if (seconds <= (LATENCY_BOUNDS[at] ?? 0)) return at
  return LATENCY_BOUNDS.length
}

export function sumOfFigures(all: readonly LatencyFigures[]): LatencyFigures {
  const counts = [...LATENCY_BOUNDS, Infinity].map((_, at) =>
    all.reduce((sum, figures) => sum + (figures.counts[at] ?? 0), 0),
  )
  return { counts, sum: all.reduce((total, { sum }) => total + sum, 0) }
}

export class LatencyHistogram {
  readonly #counts = new Float64Array(LATENCY_BOUNDS.length + 1)
  #sum = 0

  observe(seconds: number): void {
    const at = bucketOf(seconds)
    this.#counts[at] = (this.#counts[at] ?? 0) + 1
    this.#sum += seconds
  }

  figures(): LatencyFigures {
    return { counts: [...this.#counts], sum: this.#sum }
  }
}
