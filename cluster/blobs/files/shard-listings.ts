/**
 * The names in a directory of blob files, sorted once for many pages of a listing.
 *
 * Owns: how long a listing is valid: until the store changes the directory. Knows nothing of: what a name means.
 * Rule: only a few directories are in memory, however many pages are requested. If the store changes a directory while it is
 * read, the listing serves one page and is not kept.
 */

/** A million files are 4,000 names in each directory. The sweep and the scrub each walk through one at a time. */
const DIRECTORIES_KEPT = 2

export class ShardListings {
  readonly #read: (shard: string) => Promise<readonly string[]>
  /** The least recently used listing first. */
  readonly #kept = new Map<string, readonly string[]>()
  #changes = 0

  constructor(read: (shard: string) => Promise<readonly string[]>) {
    this.#read = read
  }

  /** Sorted. Throws the errors of the system. */
  async of(shard: string): Promise<readonly string[]> {
    const changes = this.#changes
    const names = this.#kept.get(shard) ?? (await this.#read(shard)).toSorted()
    if (changes !== this.#changes) return names
    this.#kept.delete(shard)
    this.#kept.set(shard, names)
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= DIRECTORIES_KEPT) break
      this.#kept.delete(oldest)
    }
    return names
  }

  /** Call after a name was added or removed. */
  forget(shard: string): void {
    this.#changes++
    this.#kept.delete(shard)
  }

  forgetAll(): void {
    this.#changes++
    this.#kept.clear()
  }
}

/** The position of the first name after `after` in a sorted listing. */
export function placeAfter(names: readonly string[], after: string): number {
  let [low, high] = [0, names.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((names[middle] ?? '') <= after) low = middle + 1
    else high = middle
  }
  return low
}
