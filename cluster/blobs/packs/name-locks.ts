/**
 * One change of a name at a time.
 *
 * Rule: whoever comes later runs after the earlier one has ended, however that ended. Readers take no lock.
 */
export class NameLocks {
  /** Only names with a change under way. */
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
