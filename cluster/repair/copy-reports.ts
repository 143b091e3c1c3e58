/**
 * Reports finished copies, many in one call of the ledger.
 *
 * Owns: which copies are reported together, and when. Knows nothing of: how a copy is made, what the ledger does with a report.
 * Rules: one call runs at a time; copies finished meanwhile go with the next one. A copy waits for others only while some are being
 * made, and no longer than LINGER_MS. A failed call fails for each of its copies.
 */
import type { Clock, Timer } from '../base/clock.ts'
import type { ReplicaTask } from '../base/types.ts'

/** The most copies of one call, and so of one log entry. */
export const COPIES_PER_REPORT_MAX = 128
const LINGER_MS = 50

export interface CopyReportsParts {
  readonly done: (tasks: readonly ReplicaTask[]) => Promise<void>
  /** Whether a copy is being made that may be reported soon. */
  readonly isMoreComing: () => boolean
  readonly clock: Clock
}

interface Waiting {
  readonly task: ReplicaTask
  readonly resolve: () => void
  readonly reject: (cause: unknown) => void
}

export class CopyReports {
  readonly #parts: CopyReportsParts
  #waiting: Waiting[] = []
  #isReporting = false
  /** The copy that waits longest has waited for LINGER_MS. */
  #isLate = false
  #linger: Timer | null = null

  constructor(parts: CopyReportsParts) {
    this.#parts = parts
  }

  /** Resolves when the copy is listed. Rejects with the error of the ledger. */
  report(task: ReplicaTask): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ task, resolve, reject })
      this.#linger ??= this.#parts.clock.after(LINGER_MS, () => {
        this.#isLate = true
        this.look()
      })
      this.look()
    })
  }

  /** Reports the copies that need not wait any longer. Must also be called when the last copy that is being made ends without a report. */
  look(): void {
    if (this.#isReporting || this.#waiting.length === 0) return
    const isFull = this.#waiting.length >= COPIES_PER_REPORT_MAX
    if (this.#isLate || isFull || !this.#parts.isMoreComing()) void this.#reportTogether()
  }

  async #reportTogether(): Promise<void> {
    this.#isReporting = true
    this.#linger?.cancel()
    this.#linger = null
    this.#isLate = false
    const together = this.#waiting.splice(0, COPIES_PER_REPORT_MAX)
    try {
      await this.#parts.done(together.map(({ task }) => task))
      for (const { resolve } of together) resolve()
    } catch (cause) {
      for (const { reject } of together) reject(cause)
    }
    this.#isReporting = false
    this.look()
  }
}
