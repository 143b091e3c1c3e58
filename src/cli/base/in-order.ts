/**
 * Works on several items at once and reports them in the order of the items.
 *
 * Owns: which reports wait for earlier ones. Knows nothing of: the work and the texts.
 * Rules: a report is made as soon as its item and all earlier items have ended. No item starts while it would be `REPORTS_WAITING_MAX` or
 * more ahead of the oldest item in progress, so one slow item delays a bounded number of reports. A failure loses no report of an item
 * that has ended.
 */
import { forEachBounded } from './bounded.ts'

/** Items that have started and are not reported yet. Count. */
export const REPORTS_WAITING_MAX = 1_000

type Report = () => void

/** `work` passes its report to `submit`, at most once, and may fail after that. */
export async function forEachInOrder<T>(
  items: AsyncIterable<T>,
  limit: number,
  work: (item: T, submit: (report: Report) => void) => Promise<void>,
): Promise<void> {
  const queue = new ReportQueue()
  await forEachBounded(queue.numbered(items), limit, async ({ item, place }) => {
    let report: Report = () => {}
    try {
      await work(item, (submitted) => {
        report = submitted
      })
    } finally {
      queue.ended(place, report)
    }
  })
}

class ReportQueue {
  readonly #waiting = new Map<number, Report>()
  /** The place of the next item. */
  #next = 0
  /** The place of the next report. */
  #due = 0
  #onReported: () => void = () => {}

  async *numbered<T>(items: AsyncIterable<T>): AsyncGenerator<{ readonly item: T; readonly place: number }> {
    for await (const item of items) {
      while (this.#next - this.#due >= REPORTS_WAITING_MAX)
        await new Promise<void>((resolve) => {
          this.#onReported = resolve
        })
      yield { item, place: this.#next++ }
    }
  }

  ended(place: number, report: Report): void {
    this.#waiting.set(place, report)
    for (let due = this.#waiting.get(this.#due); due !== undefined; due = this.#waiting.get(this.#due)) {
      this.#waiting.delete(this.#due++)
      due()
    }
    this.#onReported()
  }
}
