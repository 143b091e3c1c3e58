/**
 * getClusterPlacement: authorize -> tenant and bucket exist -> walk a bounded number of chunks, ask members for their disks.
 *
 * Rules: it changes nothing; an answer counts only the chunks that it has read, and a token continues behind them, so pages add up
 * to the whole. The rows are walked instead of kept as counters: a counter for each tenant and node would be another write in
 * each commit and each repair.
 */
import type { NodeRepair } from '../../../cluster/index.ts'
import { adminToken } from '../../access/rights.ts'
import { Refusal } from '../../base/refusal.ts'
import { bucketKeys } from '../../state-machine/buckets/keys.ts'
import type { BucketRecord } from '../../state-machine/buckets/records.ts'
import { chunkRanges } from '../../state-machine/chunks/keys.ts'
import type { ChunkRecord } from '../../state-machine/chunks/records.ts'
import { ALL_PLANNED } from '../../state-machine/long-operations/operations.ts'
import { membersOf } from '../../state-machine/members/members.ts'
import { chunksOfBucket } from '../../store/reads/chunk-walk.ts'
import { openContinuationToken, sealContinuationToken } from '../base/continuation-token.ts'
import { adminOperation } from '../base/operation.ts'
import type { Services } from '../base/services.ts'
import { noTarget } from '../base/targets.ts'
import { findTenant } from '../tenants/find-tenant.ts'
import { type PlacementSums, PlacementTally } from './placement-tally.ts'

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

export interface PlacementPart {
  readonly sums: PlacementSums
  /** Every member, as far as it answers. */
  readonly disks: readonly NodeRepair[]
  readonly nextContinuationToken: string | null
}

interface Subject {
  readonly tenantId: string | null
  readonly bucket: BucketRecord | null
}

export const getClusterPlacement = adminOperation(
  {
    id: 'getClusterPlacement',
    requires: adminToken('owner', 'cluster'),
    refuses: ['not_found', 'invalid_continuation_token'],
    target: noTarget,
  },
  async (services, _principal, input: PlacementInput): Promise<PlacementPart> => {
    const subject = subjectOf(services, input)
    const context = ['getClusterPlacement', subject.tenantId ?? '', subject.bucket?.id ?? '']
    const { continuationToken, limit = PLACEMENT_CHUNKS_MAX } = input
    let position =
      continuationToken === undefined ? '' : openContinuationToken(services, context, continuationToken)
    const left = Math.min(Math.max(limit, 1), PLACEMENT_CHUNKS_MAX)
    const tally = new PlacementTally(membersOf(services.state).members)
    const asked = services.cluster.repairStatuses()
    for (let counted = 0; counted < left && position !== ALL_PLANNED; ) {
      const page = await pageOf(services, subject, { after: position, limit: Math.min(PAGE, left - counted) })
      tally.add(page.chunks)
      // A page of a bucket may have no chunk and still have cost reads.
      counted += Math.max(1, page.chunks.length)
      position = page.next
    }
    const isEnd = position === ALL_PLANNED
    return {
      sums: tally.sums(),
      disks: await asked,
      nextContinuationToken: isEnd ? null : sealContinuationToken(services, context, position),
    }
  },
)

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
