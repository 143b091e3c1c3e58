/**
 * Until when the bytes of one write are looked at.
 *
 * Rule: only success proves that nobody is at work on them any more. What was refused, cut off or timed out may have left a
 * write to a socket or a disk under way, so after one of these they are never told to be spent.
 */
export class BytesInUse {
  readonly #onSpent: (() => void) | undefined
  #users = 0
  #isProved = true

  constructor(onSpent: (() => void) | undefined) {
    this.#onSpent = onSpent
  }

  /** Settles as the work does. */
  async until<T>(work: Promise<T>): Promise<T> {
    this.#users++
    try {
      return await work
    } catch (cause) {
      this.#isProved = false
      throw cause
    } finally {
      this.#users--
      if (this.#users === 0 && this.#isProved) this.#onSpent?.()
    }
  }
}
