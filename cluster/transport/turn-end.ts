/**
 * What is done once at the end of a turn of the event loop, however often it was asked for in it.
 *
 * Owns: the order: all makers (they make bytes), then all writers (they write them). Rule: what one turn says to a peer leaves in
 * one write, and a turn in which nothing was said costs nothing.
 */
export class TurnEnd {
  #makers: (() => void)[] = []
  #writers: (() => void)[] = []
  #isComing = false

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
    const makers = this.#makers
    this.#makers = []
    for (const make of makers) make()
    const writers = this.#writers
    this.#writers = []
    this.#isComing = false
    for (const write of writers) write()
  }
}
