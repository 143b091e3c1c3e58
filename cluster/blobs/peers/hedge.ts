/**
 * Decides when a slow read is sent to a second copy too. [Dean and Barroso, The Tail at Scale, 2013]
 *
 * Owns: the percentile of recent first pieces and the budget of second reads. Knows nothing of: copies, streams.
 * Rules: the delay comes from measured reads, within bounds. The budget grows with completed first reads, so second reads stay a
 * bounded share of all reads, however slow the cluster is.
 */
export interface HedgeOptions {
  readonly delayMinMs: number
  readonly delayMaxMs: number
  /** Second reads per read, over time. */
  readonly shareMax: number
}

const SAMPLES_MAX = 256
/** With fewer samples a percentile is meaningless; the longest delay is used instead. */
const SAMPLES_MIN = 20
const PERCENTILE = 0.95
/** The most unused budget that is kept: a burst after an idle time can spend it. */
const BUDGET_MAX = 10
/** The percentile is computed again after this many samples, not at each read. */
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

  /** How long to wait for the first piece before a second copy is tried. */
  get delayMs(): number {
    return this.#delayMs
  }

  /** Called for every read that started, with the time until its first piece. */
  began(firstPieceMs: number): void {
    this.#budget = Math.min(BUDGET_MAX, this.#budget + this.#options.shareMax)
    this.#samples[this.#count % SAMPLES_MAX] = firstPieceMs
    this.#count++
    if (this.#count % SAMPLES_PER_UPDATE === 0 && this.#count >= SAMPLES_MIN) this.#update()
  }

  /** Whether a second read may be made now; `true` takes it from the budget. */
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
