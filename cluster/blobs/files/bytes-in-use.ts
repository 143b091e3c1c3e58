/**
 * Tracks until when the bytes of one write are in use.
 *
 * Rule: only success proves that no operation uses the bytes any more. Work that was refused, aborted or timed out may have left
 * a write to a socket or a disk in progress, so after such an outcome `onSpent` is never called.
 */
export class BytesInUse {
  readonly #onSpent: (() => void) | undefined
  #users = 0
  #isProved = true

  constructor(onSpent: (() => void) | undefined) {
    this.#onSpent = onSpent
  }

  /** Settles like the work. */
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
