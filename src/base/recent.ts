/**
 * Values that were used lately, by name, within bounds.
 *
 * Owns: the bounds, and which values give way. Knows nothing of: what they are, when one is out of date.
 * Rule: there are two generations. What is used moves to the newer one; when that is full, the older one is dropped as a whole. So a
 * use costs one look-up, and what is used again and again stays.
 */
export interface RecentBounds {
  /** Of one generation. */
  readonly countMax: number
  /** Sum of the weights of one generation. */
  readonly weightMax: number
}

interface Kept<V> {
  readonly value: V
  readonly weight: number
}

export class Recent<V> {
  readonly #bounds: RecentBounds
  #newer = new Map<string, Kept<V>>()
  #older = new Map<string, Kept<V>>()
  #weight = 0

  constructor(bounds: RecentBounds) {
    this.#bounds = bounds
  }

  /** Of both generations. */
  get size(): number {
    return this.#newer.size + this.#older.size
  }

  /** Undefined: not kept. */
  get(name: string): V | undefined {
    const recent = this.#newer.get(name)
    if (recent !== undefined) return recent.value
    const kept = this.#older.get(name)
    if (kept === undefined) return undefined
    this.#older.delete(name)
    this.#add(name, kept)
    return kept.value
  }

  /** `weight`: in the unit of the bound. */
  set(name: string, value: V, weight: number): void {
    this.delete(name)
    this.#add(name, { value, weight })
  }

  delete(name: string): void {
    this.#weight -= this.#newer.get(name)?.weight ?? 0
    this.#newer.delete(name)
    this.#older.delete(name)
  }

  clear(): void {
    this.#newer.clear()
    this.#older.clear()
    this.#weight = 0
  }

  #add(name: string, kept: Kept<V>): void {
    const { countMax, weightMax } = this.#bounds
    if (this.#newer.size >= countMax || this.#weight + kept.weight > weightMax) {
      this.#older = this.#newer
      this.#newer = new Map()
      this.#weight = 0
    }
    this.#newer.set(name, kept)
    this.#weight += kept.weight
  }
}
