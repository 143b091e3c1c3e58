/** When the work of a turn begins: by default in the next microtask. */
export type AtTurnEnd = (work: () => void) => void

/** Runs its work once, however many inputs of this turn ask for it. */
export class OncePerTurn {
  readonly #work: () => void
  readonly #atTurnEnd: AtTurnEnd
  #isScheduled = false

  constructor(work: () => void, atTurnEnd: AtTurnEnd = queueMicrotask) {
    this.#work = work
    this.#atTurnEnd = atTurnEnd
  }

  schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    this.#atTurnEnd(() => this.now())
  }

  /** Runs the work now if it is scheduled. */
  now(): void {
    if (!this.#isScheduled) return
    this.#isScheduled = false
    this.#work()
  }
}
