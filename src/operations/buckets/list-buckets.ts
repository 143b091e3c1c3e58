/**
 * listBuckets: the buckets of the tenant that some scope of the key matches, by name. [decisions 14]
 *
 * Reads pages until one answer is full; a tenant's buckets are bounded in number, so the loop is too.
 */
import { authorize, canSeeBucket } from '../../access/authorize.ts'
import type { AccessKeyPrincipal } from '../../access/base/principal.ts'
import type { BucketRecord } from '../../state-machine/buckets/records.ts'
import { openContinuationToken, sealContinuationToken } from '../base/continuation-token.ts'
import { clampPageSize } from '../base/page-size.ts'
import type { Services } from '../base/services.ts'

interface ListBucketsInput {
  readonly prefix: string
  readonly maxBuckets: number | undefined
  readonly continuationToken: string | undefined
}

export interface BucketListing {
  readonly buckets: readonly BucketRecord[]
  readonly nextContinuationToken: string | null
}

export async function listBuckets(
  services: Services,
  principal: AccessKeyPrincipal,
  input: ListBucketsInput,
): Promise<BucketListing> {
  authorize(principal, 'listBuckets', {}, services.state)
  const limit = clampPageSize(input.maxBuckets)
  const context = ['listBuckets', principal.tenantId, input.prefix]
  let after =
    input.continuationToken === undefined
      ? ''
      : openContinuationToken(services, context, input.continuationToken)
  const buckets: BucketRecord[] = []
  for (;;) {
    const page = await services.state.buckets(principal.tenantId, input.prefix, after, limit - buckets.length)
    buckets.push(...page.items.filter((bucket) => canSeeBucket(principal, bucket.name)))
    if (page.next === null) return { buckets, nextContinuationToken: null }
    after = page.next
    if (buckets.length === limit) {
      return { buckets, nextContinuationToken: sealContinuationToken(services, context, after) }
    }
  }
}
