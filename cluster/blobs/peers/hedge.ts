/**
 * When a read that does not begin is worth asking of a second copy. [Dean and Barroso, The Tail at Scale, 2013]
 *
 * Owns: the percentile of late first pieces and the budget of second reads. Knows nothing of: copies, streams.
 * Rules: the delay comes from what was measured, within bounds; the budget comes from reads that were made, so second
 * reads stay a share of all reads, however slow everything is.
 */
export interface HedgeOptions {
  readonly delayMinMs: number
  readonly delayMaxMs: number
  /** Second reads per read, over time. */
  readonly shareMax: number
}

const SAMPLES_MAX = 256
/** With fewer samples a percentile says nothing: then the longest delay is used. */
const SAMPLES_MIN = 20
const PERCENTILE = 0.95
/** Unused budget that may be kept: what a burst after a quiet time can spend. */
const BUDGET_MAX = 10
/** The percentile is taken anew after so many samples, not at each read. */
const SAMPLES_PER_UPDATE = 16

export class Hedge {
  readonly #options: HedgeOptions
  /** A ring: the sample after the newest is the oldest. */
  readonly #samples: number[] = []
  #count = 0
  #delayMs: number
  #budget = BUDGET_MAX

  constructor(options: HedgeOptions) {
    this.#options = options
    this.#delayMs = options.delayMaxMs
  }

  /** How long to wait for the first piece before a second copy is asked. */
  get delayMs(): number {
    return this.#delayMs
  }

  /** Told of every read that began: how long its first piece took. */
  began(firstPieceMs: number): void {
    this.#budget = Math.min(BUDGET_MAX, this.#budget + this.#options.shareMax)
    this.#samples[this.#count % SAMPLES_MAX] = firstPieceMs
    this.#count++
    if (this.#count % SAMPLES_PER_UPDATE === 0 && this.#count >= SAMPLES_MIN) this.#update()
  }

  /** Whether a second read may be made now; a yes is spent. */
  mayHedge(): boolean {
    if (this.#budget < 1) return false
    this.#budget--
    return true
  }

  #update(): void {
    const { delayMinMs, delayMaxMs } = this.#options
    const sorted = this.#samples.toSorted((one, other) => one - other)
    const found = sorted[Math.floor(sorted.length * PERCENTILE)] ?? delayMaxMs
    this.#delayMs = Math.min(delayMaxMs, Math.max(delayMinMs, found))
  }
}
