/**
 * What is done once at the end of a turn of the event loop, however often it was asked for in it.
 *
 * Owns: the order: all deciders (they decide what is said), then all makers (they make bytes), then all writers (they write them). Rule: what one turn says
 * to a peer leaves in one write, and a turn in which nothing was said costs nothing.
 */
export class TurnEnd {
  #deciders: (() => void)[] = []
  #makers: (() => void)[] = []
  #writers: (() => void)[] = []
  #isComing = false

  /** Runs `decide` once, before anything of this turn is made; it may ask for more of each kind. */
  decide(decide: () => void): void {
    this.#deciders.push(decide)
    this.#come()
  }

  /** Runs `make` once, before the writers of this turn. */
  make(make: () => void): void {
    this.#makers.push(make)
    this.#come()
  }

  /** Runs `write` once, after everything that was made in this turn. */
  write(write: () => void): void {
    this.#writers.push(write)
    this.#come()
  }

  #come(): void {
    if (this.#isComing) return
    this.#isComing = true
    setImmediate(() => this.#run())
  }

  #run(): void {
    while (this.#deciders.length > 0) {
      const deciders = this.#deciders
      this.#deciders = []
      for (const decide of deciders) decide()
    }
    const makers = this.#makers
    this.#makers = []
    for (const make of makers) make()
    const writers = this.#writers
    this.#writers = []
    this.#isComing = false
    // Asked for while bytes were made.
    if (this.#deciders.length > 0 || this.#makers.length > 0) this.#come()
    for (const write of writers) write()
  }
}
