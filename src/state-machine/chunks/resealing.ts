/**
 * A chunk that was sealed again with another key of its tenant: the same chunk, another making.
 *
 * Owns: when its row may name the new copies. Knows nothing of: keys, operations.
 * Rules: the new copies have a birth of their own and are as many as an acknowledgement needs; the copies of the former birth are free to be
 * removed in the same entry and not before. References and condemnation stay as they are.
 */
import type { Draft } from '../base/draft.ts'
import type { TenantId } from '../base/record-ids.ts'
import type { ApplyContext } from '../base/view.ts'
import { mayHold } from '../members/members.ts'
import { keyVersionMember, keyVersionOf } from '../tenants/data-keys.ts'
import { changeChunk } from './chunk-rows.ts'
import { hasCopies } from './chunks.ts'
import { grantTasks } from './copies.ts'
import { chunkKeys } from './keys.ts'
import type { ChunkRecord } from './records.ts'
import { stateOfBirth } from './upload-sessions.ts'

interface Resealing {
  readonly tenantId: TenantId
  readonly chunk: Pick<ChunkRecord, 'birth' | 'sealedSize' | 'checksum' | 'replicas'> & {
    readonly chunkId: string
    readonly from: string
    readonly missing: readonly string[]
  }
  /** The version of the key that sealed the copies so far. */
  readonly former: number
  readonly keyVersion: number
  readonly copiesMin: number
}

/** False: the row is not what was sealed again, or the new copies do not count. */
export function resealChunk(
  draft: Draft,
  { tenantId, chunk, former, keyVersion, copiesMin }: Resealing,
  context: ApplyContext,
): boolean {
  const { chunkId, from, birth, sealedSize, checksum } = chunk
  const before = draft.get(chunkKeys.chunk(tenantId, chunkId))
  if (before === undefined || before.birth !== from || keyVersionOf(before) !== former) return false
  if (birth === from || stateOfBirth(draft, birth) !== 'open') return false
  if (!hasCopies(draft, chunk.replicas, Math.max(1, copiesMin))) return false
  const replicas = [...new Set(chunk.replicas)].filter((node) => mayHold(draft, node))
  const missing = [...new Set(chunk.missing)].filter((node) => mayHold(draft, node))
  const owed = missing.filter((node) => !replicas.includes(node))
  const made = { birth, sealedSize, checksum, replicas, owed }
  const after: ChunkRecord = { ...before, ...made, ...keyVersionMember(keyVersion), resealedFrom: from }
  changeChunk(draft, { before, after, granted: grantTasks(after, owed, context) })
  return true
}
