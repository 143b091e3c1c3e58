/**
 * When background work is tried again after it failed: sealing and export of the audit log, backups, their prune.
 *
 * Owns: the wait, and the current reason of failure. Knows nothing of: why it fails. No clock and no I/O.
 * Rule: a try may pack thousands of rows, or leave copies behind that nothing names, so the wait doubles up to a minute; a
 * single failure is not reported, because leaders change.
 */
const WAIT_MS_MIN = 1_000
const WAIT_MS_MAX = 60_000

export interface Failed {
  /** Number of failures in a row. */
  readonly failures: number
  /** The second failure in a row or a later one, with another reason than the last one reported. */
  readonly isNews: boolean
}

export class RetryWait {
  /** Since the last success. */
  #failures = 0
  #total = 0
  #dueAt = Number.NEGATIVE_INFINITY
  #reportedReason: string | null = null

  /** Number of failures on this node. */
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
    const isNews = this.#failures > 1 && this.#reportedReason !== reason
    if (isNews) this.#reportedReason = reason
    return { failures: this.#failures, isNews }
  }

  /** True: a failure had been reported, and the work succeeds again. */
  ended(): boolean {
    const wasReported = this.#reportedReason !== null
    this.#failures = 0
    this.#dueAt = Number.NEGATIVE_INFINITY
    this.#reportedReason = null
    return wasReported
  }
}
