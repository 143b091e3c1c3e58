/** Runs its work once in the next microtask, however many inputs of this turn ask for it. */
export class OncePerTurn {
  readonly #work: () => void
  #isScheduled = false

  constructor(work: () => void) {
    this.#work = work
  }

  schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    queueMicrotask(() => {
      this.#isScheduled = false
      this.#work()
    })
  }
}
