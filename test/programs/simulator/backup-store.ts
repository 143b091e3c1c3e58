/**
 * A target of backups in memory: chunks by their names, cuts of attempts, manifests.
 *
 * Owns: what lies there. Knows nothing of: operations, drivers. Rule: what is stored stays until it is removed.
 */

/** A chunk is called by its id and the checksum of its sealed bytes. */
export type StoredName = string

export interface StoredCut {
  readonly attempt: string
  /** The entry that the cut lies behind. */
  readonly rows: ReadonlyMap<string, string>
  /** In the order in which they are sent. */
  readonly chunks: readonly StoredName[]
}

export class BackupStore {
  readonly chunks = new Set<StoredName>()
  readonly #cuts = new Map<string, StoredCut>()
  /** By operation, in the order in which they were written. */
  readonly manifests = new Map<string, StoredCut>()

  keepCut(cut: StoredCut): void {
    this.#cuts.set(cut.attempt, cut)
  }

  cutOf(attempt: string): StoredCut | null {
    return this.#cuts.get(attempt) ?? null
  }

  /** Chunks that a cut names and the target does not have. */
  missing({ chunks }: StoredCut): readonly StoredName[] {
    return chunks.filter((name) => !this.chunks.has(name))
  }

  /** Keeps the newest manifest, and what it names. */
  prune(): void {
    const kept = [...this.manifests].slice(-1)
    this.manifests.clear()
    for (const [operationId, cut] of kept) this.manifests.set(operationId, cut)
    const named = new Set(kept.flatMap(([, { chunks }]) => chunks))
    for (const name of this.chunks) if (!named.has(name)) this.chunks.delete(name)
  }
}
