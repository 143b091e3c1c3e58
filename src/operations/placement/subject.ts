/**
 * What a question about placement is about: the cluster, a tenant or a bucket, and a walk over its chunks.
 *
 * Rule: a page costs a bounded number of reads, whatever the subject holds.
 */
import { Refusal } from '../../base/refusal.ts'
import { bucketKeys } from '../../state-machine/buckets/keys.ts'
import type { BucketRecord } from '../../state-machine/buckets/records.ts'
import { chunkRanges } from '../../state-machine/chunks/keys.ts'
import type { ChunkRecord } from '../../state-machine/chunks/records.ts'
import { ALL_PLANNED } from '../../state-machine/long-operations/operations.ts'
import { chunksOfBucket } from '../../store/reads/chunk-walk.ts'
import { openContinuationToken, sealContinuationToken } from '../base/continuation-token.ts'
import type { Services } from '../base/services.ts'
import { findTenant } from '../tenants/find-tenant.ts'

/** Chunks that one answer counts. */
export const PLACEMENT_CHUNKS_MAX = 20_000
const PAGE = 500

export interface PlacementInput {
  /** Absent: all tenants. */
  readonly tenantId?: string
  /** Only with `tenantId`; absent: all of the tenant's. */
  readonly bucket?: string
  /** Chunks to count; more than PLACEMENT_CHUNKS_MAX count as that many. */
  readonly limit?: number
  readonly continuationToken?: string
}

interface Subject {
  readonly tenantId: string | null
  readonly bucket: BucketRecord | null
}

/**
 * Gives the next chunks of the subject to `add`, page by page, and returns the token behind them; null: there are no more. `context`:
 * the name of the question and all that shaped it. Throws Refusal.
 */
export async function walkChunks(
  services: Services,
  input: PlacementInput,
  context: readonly string[],
  add: (chunks: readonly ChunkRecord[]) => void,
): Promise<string | null> {
  const subject = subjectOf(services, input)
  const full = [...context, subject.tenantId ?? '', subject.bucket?.id ?? '']
  const { continuationToken, limit = PLACEMENT_CHUNKS_MAX } = input
  let position =
    continuationToken === undefined ? '' : openContinuationToken(services, full, continuationToken)
  const left = Math.min(Math.max(limit, 1), PLACEMENT_CHUNKS_MAX)
  for (let counted = 0; counted < left && position !== ALL_PLANNED; ) {
    const page = await pageOf(services, subject, { after: position, limit: Math.min(PAGE, left - counted) })
    add(page.chunks)
    // A page of a bucket may have no chunk and still have cost reads.
    counted += Math.max(1, page.chunks.length)
    position = page.next
  }
  return position === ALL_PLANNED ? null : sealContinuationToken(services, full, position)
}

function subjectOf(services: Services, { tenantId, bucket }: PlacementInput): Subject {
  if (tenantId === undefined && bucket === undefined) return { tenantId: null, bucket: null }
  if (tenantId === undefined)
    throw new Refusal(
      'invalid_argument',
      'Cannot get the placement: "bucket" is given without "tenantId"; give the tenant of the bucket as well',
    )
  const tenant = findTenant(services, tenantId)
  if (bucket === undefined) return { tenantId: tenant.id, bucket: null }
  const record = services.state.get(bucketKeys.bucket(tenant.id, bucket))
  if (record === undefined)
    throw new Refusal('not_found', `Cannot get the placement: bucket "${bucket}" does not exist`)
  return { tenantId: tenant.id, bucket: record }
}

async function pageOf(
  { state }: Services,
  { tenantId, bucket }: Subject,
  query: { readonly after: string; readonly limit: number },
): Promise<{ readonly chunks: readonly ChunkRecord[]; readonly next: string }> {
  if (bucket !== null) {
    const { chunks, next } = await chunksOfBucket(state, bucket, query.after, query.limit)
    return { chunks: chunks.map(({ chunk }) => chunk), next }
  }
  const range = tenantId === null ? chunkRanges.chunks() : chunkRanges.chunksOf(tenantId)
  const { items, next } = await state.page(range, query)
  return { chunks: items, next: next ?? ALL_PLANNED }
}
