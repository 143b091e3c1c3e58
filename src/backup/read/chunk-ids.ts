/**
 * A set of chunk ids in eight bytes each.
 *
 * Owns: that form. Rule: an id is known by its first 52 bits, so among ten million of them another one is taken for known with a probability of about two in a
 * thousand millions; use it where that is harmless.
 */

const START = 1_024
/** Hex digits that a number holds exactly. */
const DIGITS = 13

export class ChunkIds {
  #ids = new Float64Array(START)
  #count = 0
  #isSorted = true

  add(id: string): void {
    if (this.#count === this.#ids.length) {
      const larger = new Float64Array(this.#ids.length * 2)
      larger.set(this.#ids)
      this.#ids = larger
    }
    this.#ids[this.#count++] = numberOf(id)
    this.#isSorted = false
  }

  /** Sorts once after the last id was added. */
  has(id: string): boolean {
    if (!this.#isSorted) this.#ids.subarray(0, this.#count).sort()
    this.#isSorted = true
    const wanted = numberOf(id)
    let [low, high] = [0, this.#count]
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#ids[middle] ?? 0) < wanted) low = middle + 1
      else high = middle
    }
    return low < this.#count && this.#ids[low] === wanted
  }
}

function numberOf(id: string): number {
  return Number.parseInt(id.slice(0, DIGITS), 16)
}
