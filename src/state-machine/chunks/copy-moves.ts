/**
 * What has to move so that a chunk lies where it should. Pure.
 *
 * Rules: a copy that is too much goes only in exchange for one that is missing; as many copies are kept at every moment as
 * there are now; what is owed already is nobody's business here.
 */
import type { CopyMove } from './commands.ts'
import type { ChunkRecord } from './records.ts'

/** One move for each node of `wanted` that neither holds the chunk nor is about to. */
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
