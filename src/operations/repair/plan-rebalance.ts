/**
 * What a rebalance would move, counted now: for dry runs.
 *
 * Rule: it looks at a bounded number of chunks; what it counts is a lower bound when there are more.
 */
import { movesOf } from '../../state-machine/chunks/copy-moves.ts'
import { ALL_PLANNED } from '../../state-machine/long-operations/operations.ts'
import { chunksOfBucket, chunksOfTenant, type WalkedChunk } from '../../store/reads/chunk-walk.ts'
import type { Plan } from '../base/dry-run.ts'
import type { Services } from '../base/services.ts'
import { bucketKeys } from '../../state-machine/buckets/keys.ts'

export interface RebalancePlan {
  readonly chunks: number
  readonly copiesToMake: number
  readonly bytesToMove: number
  /** False: there are more chunks than were looked at. */
  readonly isComplete: boolean
}

const CHUNKS_MAX = 20_000
const PAGE = 256

export async function planRebalance(
  services: Services,
  input: { readonly tenantId: string; readonly bucket?: string },
): Promise<Plan<RebalancePlan>> {
  let [chunks, copiesToMake, bytesToMove, position] = [0, 0, 0, '']
  while (position !== ALL_PLANNED && chunks < CHUNKS_MAX) {
    const page = await nextPage(services, input, position)
    for (const { chunk } of page.chunks) {
      const moves = movesOf(chunk, services.cluster.placement(chunk.id as string)).length
      copiesToMake += moves
      bytesToMove += moves * chunk.sealedSize
    }
    chunks += page.chunks.length
    position = page.next
  }
  const isComplete = position === ALL_PLANNED
  const plan = { chunks, copiesToMake, bytesToMove, isComplete }
  const warnings = isComplete ? [] : [`Only the first ${chunks} chunks were looked at; there is more to move`]
  return { plan, warnings }
}

async function nextPage(
  { state }: Services,
  { tenantId, bucket }: { readonly tenantId: string; readonly bucket?: string },
  position: string,
): Promise<{ readonly chunks: readonly WalkedChunk[]; readonly next: string }> {
  if (bucket === undefined) {
    const chunks = await chunksOfTenant(state, tenantId, position, PAGE)
    const last = chunks.length < PAGE ? undefined : chunks.at(-1)
    return { chunks, next: last?.position ?? ALL_PLANNED }
  }
  const record = state.get(bucketKeys.bucket(tenantId, bucket))
  if (record === undefined) return { chunks: [], next: ALL_PLANNED }
  return chunksOfBucket(state, record, position, PAGE)
}
