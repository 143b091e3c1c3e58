/**
 * Which copies have to move so that a chunk is on the wanted nodes. Pure.
 *
 * Rules: a surplus copy is removed only in exchange for a missing one; the number of copies never falls below the present
 * one; copies that are owed already are ignored.
 */
import type { CopyMove } from './commands.ts'
import type { ChunkRecord } from './records.ts'

/** One move for each node of `wanted` that neither holds the chunk nor is owed a copy. */
export function movesOf(chunk: ChunkRecord, wanted: readonly string[]): readonly CopyMove[] {
  if (chunk.references === 0) return []
  const { tenantId, id: chunkId, birth, replicas, owed } = chunk
  const targets = wanted.filter((node) => !replicas.includes(node) && !owed.includes(node))
  const surplus = replicas.filter((node) => !wanted.includes(node))
  return targets.map((target, n) => {
    const about = { tenantId, chunkId, birth, target }
    return { ...about, replaces: surplus[n] ?? null, copiesKept: replicas.length }
  })
}
