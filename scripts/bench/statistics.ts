/**
 * Latencies of one measurement, and their statistics.
 *
 * Owns: the definition of a percentile (nearest rank: a measured value). Knows nothing of: what was timed.
 * Rule: the given capacity bounds the memory; further values are refused, never sampled silently.
 */
const FIRST_CAPACITY = 1024

export class Latencies {
  readonly #capacity: number
  #values = new Float64Array(FIRST_CAPACITY)
  #count = 0

  constructor(capacity: number) {
    this.#capacity = capacity
  }

  get count(): number {
    return this.#count
  }

  get isFull(): boolean {
    return this.#count >= this.#capacity
  }

  add(ms: number): void {
    if (this.isFull) throw new RangeError(`Cannot hold more than ${this.#capacity} latencies`)
    if (this.#count === this.#values.length) this.#grow()
    this.#values[this.#count++] = ms
  }

  sorted(): Float64Array {
    return this.#values.slice(0, this.#count).sort()
  }

  #grow(): void {
    const wider = new Float64Array(2 * this.#values.length)
    wider.set(this.#values)
    this.#values = wider
  }
}

/** The smallest value that at least `share` of all values do not exceed; null without values. `sorted` ascends. */
export function percentile(sorted: Float64Array, share: number): number | null {
  if (!(share >= 0 && share <= 1)) throw new RangeError(`A share is from 0 to 1, got ${share}`)
  const rank = Math.max(1, Math.ceil(share * sorted.length))
  return sorted[rank - 1] ?? null
}

/** The middle one, or the mean of the two in the middle; NaN of nothing. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other)
  const half = sorted.length >> 1
  const upper = sorted[half] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : ((sorted[half - 1] ?? Number.NaN) + upper) / 2
}
