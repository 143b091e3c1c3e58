/**
 * The rows of a pack index in memory, for disks that lose power.
 *
 * Rule: like in the real ones, a write is atomic, and durable once it resolves.
 */
import type { IndexRange, IndexRows } from '../../cluster/blobs/packs/index-rows.ts'

export class MemoryRows implements IndexRows {
  readonly rows: Map<string, Uint8Array>
  /** Runs before every write; throws to make it fail. */
  beforeWrite: () => void = () => undefined

  constructor(rows: ReadonlyMap<string, Uint8Array> = new Map()) {
    this.rows = new Map(rows)
  }

  async open(): Promise<void> {}

  async get(key: string): Promise<Uint8Array | undefined> {
    return this.rows.get(key)
  }

  async getMany(keys: readonly string[]): Promise<readonly (Uint8Array | undefined)[]> {
    return keys.map((key) => this.rows.get(key))
  }

  async *entries({ after, before, limit = Infinity }: IndexRange) {
    const keys = [...this.rows.keys()].filter((key) => key > after && key < before).sort()
    const found = keys.slice(0, limit).map((key) => [key, this.rows.get(key) ?? new Uint8Array()] as const)
    yield* found
  }

  async write(changes: ReadonlyMap<string, Uint8Array | null>): Promise<void> {
    this.beforeWrite()
    for (const [key, value] of changes) {
      if (value === null) this.rows.delete(key)
      else this.rows.set(key, value)
    }
  }

  async clear(): Promise<void> {
    this.beforeWrite()
    this.rows.clear()
  }

  async close(): Promise<void> {}
}
