/**
 * Which entries of the log are older than a delay.
 *
 * Owns: marks, pairs of an index and the moment at which it was seen here. Knows nothing of: what happened at an index.
 * Rule: the clock is that of this process and only differences count; a node that becomes the job runner starts without marks, so a
 * mark may be late, never early.
 */
interface Mark {
  readonly index: number
  readonly seenAt: number
}

export interface DelayMarksParts {
  readonly delayMs: number
  /** Of this process; only differences count. ms */
  readonly now: () => number
}

export class DelayMarks {
  readonly #parts: DelayMarksParts
  /** Both members ascend; one mark for each call within the delay. */
  #marks: Mark[] = []

  constructor(parts: DelayMarksParts) {
    this.#parts = parts
  }

  clear(): void {
    this.#marks = []
  }

  /** `newest`: the highest index at which something happened, null for none. Returns the highest one that is due, -1 for none. */
  dueUpTo(newest: number | null): number {
    const { now, delayMs } = this.#parts
    const at = now()
    if (newest !== null && newest > (this.#marks.at(-1)?.index ?? -1))
      this.#marks.push({ index: newest, seenAt: at })
    const isDue = ({ seenAt }: Mark): boolean => at - seenAt >= delayMs
    const last = this.#marks.findLastIndex(isDue)
    this.#marks = this.#marks.slice(Math.max(0, last))
    const due = this.#marks[0]
    return due !== undefined && isDue(due) ? due.index : -1
  }
}
