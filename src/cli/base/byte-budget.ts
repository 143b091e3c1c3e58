/**
 * Bounds the bytes that transfers hold in memory together: many small ones at once, or few large ones.
 *
 * Rules: the transfer that came first starts first, so that small ones do not pass a large one indefinitely. One that needs more than there is
 * alone gets all of it.
 */
export class ByteBudget {
  readonly #max: number
  #left: number
  readonly #waiting: { readonly bytes: number; readonly start: () => void }[] = []

  constructor(max: number) {
    this.#max = max
    this.#left = max
  }

  /** Runs the work when so many bytes are free. */
  async with<T>(bytes: number, work: () => Promise<T>): Promise<T> {
    const taken = Math.min(bytes, this.#max)
    await this.#taken(taken)
    try {
      return await work()
    } finally {
      this.#left += taken
      this.#startNext()
    }
  }

  #taken(bytes: number): Promise<void> {
    return new Promise((start) => {
      this.#waiting.push({ bytes, start })
      this.#startNext()
    })
  }

  #startNext(): void {
    for (
      let next = this.#waiting[0];
      next !== undefined && next.bytes <= this.#left;
      next = this.#waiting[0]
    ) {
      this.#waiting.shift()
      this.#left -= next.bytes
      next.start()
    }
  }
}
