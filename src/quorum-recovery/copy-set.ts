/**
 * A set of names of copies with eight bytes for each.
 *
 * Owns: the digests, sorted. Rule: `has` finds every name that was added. For a name that was not added it is wrong with a probability of
 * one in some billions for a million copies.
 */
import { hash } from 'node:crypto'

const FIRST_CAPACITY = 1024

export class CopySet {
  #digests = new BigUint64Array(FIRST_CAPACITY)
  #size = 0
  #isSorted = true

  get size(): number {
    return this.#size
  }

  add(name: string): void {
    if (this.#size === this.#digests.length) {
      const larger = new BigUint64Array(this.#digests.length * 2)
      larger.set(this.#digests)
      this.#digests = larger
    }
    this.#digests[this.#size++] = digestOf(name)
    this.#isSorted = false
  }

  has(name: string): boolean {
    if (!this.#isSorted) this.#digests.subarray(0, this.#size).sort()
    this.#isSorted = true
    const wanted = digestOf(name)
    let [low, high] = [0, this.#size]
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#digests[middle] ?? 0n) < wanted) low = middle + 1
      else high = middle
    }
    return low < this.#size && this.#digests[low] === wanted
  }
}

function digestOf(name: string): bigint {
  return hash('sha256', name, 'buffer').readBigUInt64LE()
}
