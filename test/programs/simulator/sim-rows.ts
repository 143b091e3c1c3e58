/**
 * The rows of a simulated state, with a checksum that is kept up to date.
 *
 * Owns: the checksum, a sum over rows, so that it depends on the rows alone. Knows nothing of: commands, durability.
 */
import { mix, textHash } from './rolling-hash.ts'

export class SimRows {
  readonly #rows: Map<string, string>
  #low = 0
  #high = 0

  constructor(rows: Iterable<readonly [string, string]> = []) {
    this.#rows = new Map()
    for (const [key, value] of rows) this.set(key, value)
  }

  get(key: string): string | null {
    return this.#rows.get(key) ?? null
  }

  /** `value` null: the row goes. */
  set(key: string, value: string | null): void {
    const before = this.#rows.get(key)
    if (before !== undefined) this.#count(key, before, -1)
    if (value === null) {
      this.#rows.delete(key)
      return
    }
    this.#rows.set(key, value)
    this.#count(key, value, 1)
  }

  get checksum(): Uint8Array {
    const bytes = Buffer.alloc(32)
    bytes.writeInt32LE(this.#low, 0)
    bytes.writeInt32LE(this.#high, 4)
    return bytes
  }

  /** One number out of it, for comparisons. */
  get digest(): number {
    return (this.#low >>> 0) + (this.#high & 0x1fffff) * 2 ** 32
  }

  /** In no order. */
  entries(): readonly (readonly [string, string])[] {
    return [...this.#rows]
  }

  /** In the order of the keys. */
  sorted(): readonly (readonly [string, string])[] {
    return [...this.#rows].toSorted(([a], [b]) => (a < b ? -1 : 1))
  }

  /** Recomputed from all rows. */
  recounted(): number {
    return new SimRows(this.#rows).digest
  }

  #count(key: string, value: string, sign: 1 | -1): void {
    const row = textHash(value, textHash(key))
    this.#low = (this.#low + sign * row) | 0
    this.#high = (this.#high + sign * mix(row ^ 0x5bd1e995)) | 0
  }
}
