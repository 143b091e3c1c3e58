/**
 * On which disk copies were found last, so that a read asks the right disk first.
 *
 * Rule: a hint alone: a copy that is not there is looked for on every disk.
 */
import type { BlobName } from '../../base/types.ts'
import { fileNameOf } from '../base/blob-name.ts'

/** About 10 MB of names. */
const NAMES_MAX = 65_536

export class LastPlaces<D> {
  readonly #max: number
  /** The oldest first. */
  readonly #places = new Map<string, D>()

  constructor(max: number = NAMES_MAX) {
    this.#max = max
  }

  note(name: BlobName, disk: D): void {
    const key = fileNameOf(name)
    this.#places.delete(key)
    this.#places.set(key, disk)
    if (this.#places.size <= this.#max) return
    const { value: oldest } = this.#places.keys().next()
    if (oldest !== undefined) this.#places.delete(oldest)
  }

  of(name: BlobName): D | undefined {
    return this.#places.get(fileNameOf(name))
  }
}
