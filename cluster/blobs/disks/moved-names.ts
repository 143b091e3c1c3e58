/**
 * Copies that move between disks of this node, for those who look for a copy on one disk after the other meanwhile.
 *
 * Rule: a copy is noted when it lies on both disks. So a look that met it on neither, because it left the second disk before that was
 * asked, sees that something moved and looks again.
 */
import type { BlobName } from '../../base/types.ts'
import { fileNameOf } from '../base/blob-name.ts'

/** A copy moves once in minutes; each further look needs one more move in between. */
const LOOKS_MAX = 5

export class MovedNames {
  #count = 0
  /** Of each list that is being made: what moved since it began. */
  readonly #lists = new Set<Map<string, BlobName>>()

  note(name: BlobName): void {
    this.#count++
    for (const list of this.#lists) list.set(fileNameOf(name), name)
  }

  /** Looks until something is found, or nothing moved during a look. `look` resolves with null for nothing. */
  async find<T>(look: () => Promise<T | null>): Promise<T | null> {
    for (let looks = 1; ; looks++) {
      const before = this.#count
      const found = await look()
      if (found !== null || before === this.#count || looks === LOOKS_MAX) return found
    }
  }

  /** Resolves with the names of `list` and those that moved meanwhile: it may have met them on neither disk. */
  async during(
    list: () => Promise<readonly BlobName[]>,
  ): Promise<{ readonly names: readonly BlobName[]; readonly moved: readonly BlobName[] }> {
    const moved = new Map<string, BlobName>()
    this.#lists.add(moved)
    try {
      return { names: await list(), moved: [...moved.values()] }
    } finally {
      this.#lists.delete(moved)
    }
  }
}
