/**
 * One change of a name at a time.
 *
 * Rule: a later change runs after the earlier one has ended, with or without an error. Readers take no lock.
 */
export class NameLocks {
  /** Only names with a change in progress. */
  readonly #last = new Map<string, Promise<unknown>>()

  async run<T>(fileName: string, change: () => Promise<T>): Promise<T> {
    const before = this.#last.get(fileName)
    const mine = before === undefined ? change() : before.then(change, change)
    this.#last.set(fileName, mine)
    try {
      return await mine
    } finally {
      if (this.#last.get(fileName) === mine) this.#last.delete(fileName)
    }
  }
}
