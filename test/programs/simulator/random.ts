/**
 * Random numbers from a seed.
 *
 * Rule: each part of the simulated world has a stream of its own, named by a word, so that one more draw in the network
 * does not shift what the disks do.
 */

/** SFC32 by Chris Doty-Humphrey. */
export class Random {
  #a: number
  #b: number
  #c: number
  #counter = 1

  constructor(seed: number, stream: string) {
    let name = 0x811c9dc5
    for (let i = 0; i < stream.length; i += 1) name = Math.imul(name ^ stream.charCodeAt(i), 0x01000193)
    this.#a = seed | 0
    this.#b = Math.floor(seed / 2 ** 32) | 0
    this.#c = name
    for (let i = 0; i < 12; i += 1) this.u32()
  }

  /** Unsigned, 32 bits. Bound to this stream, so that it can be handed on as a plain function. */
  readonly u32 = (): number => {
    const out = (((this.#a + this.#b) | 0) + this.#counter) | 0
    this.#counter = (this.#counter + 1) | 0
    this.#a = this.#b ^ (this.#b >>> 9)
    this.#b = (this.#c + (this.#c << 3)) | 0
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + out) | 0
    return out >>> 0
  }

  /** In [0, 1). */
  fraction(): number {
    return this.u32() / 2 ** 32
  }

  /** A whole number in [0, bound). */
  below(bound: number): number {
    return Math.floor(this.fraction() * bound)
  }

  chance(rate: number): boolean {
    return this.fraction() < rate
  }

  between(low: number, high: number): number {
    return low + this.fraction() * (high - low)
  }

  exponential(mean: number): number {
    return -mean * Math.log(1 - this.fraction())
  }

  pick<T>(list: readonly T[]): T {
    const picked = list[this.below(list.length)]
    if (picked === undefined) throw new Error('nothing to pick from')
    return picked
  }

  /** In place. */
  shuffle<T>(list: T[]): T[] {
    for (let i = list.length - 1; i > 0; i -= 1) {
      const j = this.below(i + 1)
      const [a, b] = [list[i] as T, list[j] as T]
      list[i] = b
      list[j] = a
    }
    return list
  }
}
