/**
 * When the sealing of audit rows is tried again after it failed.
 *
 * Owns: the wait, and what stands in the way. Knows nothing of: why it fails. Pure but for what it is told.
 * Rule: a try packs thousands of rows and may leave copies behind that nothing names, so the wait doubles up to a minute; one
 * failure alone is no news, for leaders change.
 */
const WAIT_MS_MIN = 1_000
const WAIT_MS_MAX = 60_000

export interface Failed {
  /** In a row. */
  readonly failures: number
  /** It stands in the way for the second time, and is another reason than the last one that was told. */
  readonly isNews: boolean
}

export class SealingRetry {
  /** Since the last success. */
  #failures = 0
  #total = 0
  #dueAt = Number.NEGATIVE_INFINITY
  #told: string | null = null

  /** Times that it failed on this node. */
  get total(): number {
    return this.#total
  }

  /** `now`: monotonic ms. */
  isDue(now: number): boolean {
    return now >= this.#dueAt
  }

  /** `reason`: of a bounded number, such as a code. */
  failed(now: number, reason: string): Failed {
    const wait = Math.min(WAIT_MS_MAX, WAIT_MS_MIN * 2 ** Math.min(this.#failures, 16))
    this.#failures++
    this.#total++
    this.#dueAt = now + wait
    const isNews = this.#failures > 1 && this.#told !== reason
    if (isNews) this.#told = reason
    return { failures: this.#failures, isNews }
  }

  /** True: a failure had been told, and nothing stands in the way any more. */
  ended(): boolean {
    const wasTold = this.#told !== null
    this.#failures = 0
    this.#dueAt = Number.NEGATIVE_INFINITY
    this.#told = null
    return wasTold
  }
}
