/**
 * Who may still read a value file that no row names any more: snapshots and walks that began before it lost its last row.
 *
 * Owns: the order of the two. Knows nothing of: files.
 */

export class ValuePins {
  readonly #onRelease: () => void
  /** How many files had lost their last row when each pin was set. */
  readonly #pins = new Map<symbol, number>()
  #moment = 0

  /** `onRelease`: a file may have lost its last reader. */
  constructor(onRelease: () => void) {
    this.#onRelease = onRelease
  }

  /** Returns the end of the pin, which may be called more than once. */
  pin(): () => void {
    const id = Symbol('pin')
    this.#pins.set(id, this.#moment)
    return () => {
      if (this.#pins.delete(id)) this.#onRelease()
    }
  }

  /** A file has just lost its last row. Returns what `isFree` asks about. */
  nextMoment(): number {
    return ++this.#moment
  }

  /** Every pin that is left was set afterwards. */
  isFree(moment: number): boolean {
    for (const pinned of this.#pins.values()) if (pinned < moment) return false
    return true
  }
}
