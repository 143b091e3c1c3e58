/**
 * listBuckets: the buckets of the tenant that some scope of the key matches, by name, with their usage where it was asked for. [decisions 14]
 *
 * Reads pages until one answer is full; a tenant's buckets are bounded in number, so the loop is too.
 */
import { canSeeBucket } from '../../access/authorize.ts'
import { accessKey } from '../../access/rights.ts'
import type { BucketRecord } from '../../state-machine/buckets/records.ts'
import { openContinuationToken, sealContinuationToken } from '../base/continuation-token.ts'
import { dataOperation } from '../base/operation.ts'
import { clampPageSize } from '../base/page-size.ts'
import { noTarget } from '../base/targets.ts'
import { type BucketUsage, visibleUsage } from './bucket-usage.ts'
import { bucketRanges } from '../../state-machine/buckets/keys.ts'

interface ListBucketsInput {
  readonly prefix: string
  readonly maxBuckets: number | undefined
  readonly continuationToken: string | undefined
  /** Counts of each bucket that the caller may read as a whole. */
  readonly withUsage?: boolean
}

export interface ListedBucket {
  readonly bucket: BucketRecord
  /** Null: it was not asked for, or the caller may not see it. */
  readonly usage: BucketUsage | null
}

export interface BucketListing {
  readonly buckets: readonly ListedBucket[]
  readonly nextContinuationToken: string | null
}

export const listBuckets = dataOperation(
  {
    id: 'listBuckets',
    isListing: true,
    requires: accessKey('read', 'tenant'),
    // It aims at no bucket; scopes decide which buckets it shows.
    s3Action: null,
    refuses: [],
    target: noTarget,
  },
  async (services, principal, input: ListBucketsInput): Promise<BucketListing> => {
    const limit = clampPageSize(input.maxBuckets)
    const context = ['listBuckets', principal.tenantId, input.prefix]
    let after =
      input.continuationToken === undefined
        ? ''
        : openContinuationToken(services, context, input.continuationToken)
    const listed = (bucket: BucketRecord): ListedBucket => ({
      bucket,
      usage: input.withUsage === true ? visibleUsage(services, principal, bucket) : null,
    })
    const buckets: ListedBucket[] = []
    for (;;) {
      const page = await services.state.page(bucketRanges.buckets(principal.tenantId), {
        prefix: input.prefix,
        after,
        limit: limit - buckets.length,
      })
      buckets.push(...page.items.filter((bucket) => canSeeBucket(principal, bucket.name)).map(listed))
      if (page.next === null) return { buckets, nextContinuationToken: null }
      after = page.next
      if (buckets.length === limit) {
        return { buckets, nextContinuationToken: sealContinuationToken(services, context, after) }
      }
    }
  },
)
