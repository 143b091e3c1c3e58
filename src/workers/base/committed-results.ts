/**
 * Attempts that a node has under way outside of the cluster, and what became of them, committed a batch an entry.
 *
 * Owns: that results are committed one command at a time, and kept until they are. Knows nothing of: what is attempted, and which attempt comes next.
 * Rule: an attempt is over when its result is committed, so nothing is tried in its place before.
 */
const RESULTS_PER_COMMAND = 256

export interface CommittedResultsParts<F, R> {
  /** False: it failed, and is repeated by the next call of `commit`. Never rejects. */
  readonly propose: (results: readonly R[]) => Promise<boolean>
  /** The results of these attempts are committed. */
  readonly land: (attempt: F) => void
  /** Behind each batch: there is room for more. Never rejects. */
  readonly sendMore: (attempts: readonly F[]) => Promise<void>
}

export class CommittedResults<F, R> {
  readonly #parts: CommittedResultsParts<F, R>
  readonly #running = new Set<Promise<void>>()
  #results: readonly { readonly attempt: F; readonly result: R }[] = []
  #isCommitting = false
  #isClosed = false

  constructor(parts: CommittedResultsParts<F, R>) {
    this.#parts = parts
  }

  /** Results are only dropped from here on. */
  get isClosed(): boolean {
    return this.#isClosed
  }

  /** `work` never rejects. */
  run(work: Promise<void>): void {
    const running = work.finally(() => this.#running.delete(running))
    this.#running.add(running)
  }

  take(attempt: F, result: R): Promise<void> {
    this.#results = [...this.#results, { attempt, result }]
    return this.#commit()
  }

  /** Commits again what could not be committed. */
  retry(): void {
    if (this.#results.length > 0) this.run(this.#commit())
  }

  /** Resolves when nothing is under way. */
  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running)
  }

  close(): void {
    this.#isClosed = true
  }

  /** One command at a time: results that arrive meanwhile go into the next one. */
  async #commit(): Promise<void> {
    if (this.#isCommitting) return
    this.#isCommitting = true
    try {
      while (this.#results.length > 0 && !this.#isClosed) {
        const batch = this.#results.slice(0, RESULTS_PER_COMMAND)
        if (!(await this.#parts.propose(batch.map(({ result }) => result)))) return
        this.#results = this.#results.slice(batch.length)
        for (const { attempt } of batch) this.#parts.land(attempt)
        await this.#parts.sendMore(batch.map(({ attempt }) => attempt))
      }
    } finally {
      this.#isCommitting = false
    }
  }
}
