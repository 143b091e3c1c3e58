/**
 * The tags of a bucket: one row, always replaced as a whole; absent while there are none.
 *
 * Knows nothing of: valid tags; gateways check them before they propose them.
 */
import { bucketKeys } from './keys.ts'
import type { BucketCommand } from './commands.ts'
import { bucketOf } from './find-bucket.ts'
import type { BucketTagsRecord } from './records.ts'
import type { Draft } from '../base/draft.ts'
import type { ApplyContext, View } from '../base/view.ts'
import type { BucketId } from '../base/record-ids.ts'
import { quotaFault } from '../usage/quota.ts'
import { configBytes } from '../usage/record-bytes.ts'
import { configGrowth, countConfig } from './config-bytes.ts'
import { type Accepted, accept, type Refused } from '../base/reply.ts'
import { activeTenant } from '../tenants/tenants.ts'

/** Undefined: it has none. */
export function bucketTagsOf(view: View, bucket: BucketId): BucketTagsRecord | undefined {
  return view.get(bucketKeys.bucketTags(bucket))
}

/** Idempotent. No tags are never refused for the quota. */
export function setBucketTags(
  draft: Draft,
  { tenantId, name, tags }: Extract<BucketCommand, { type: 'setBucketTags' }>,
  context: ApplyContext,
): Accepted<BucketTagsRecord> | Refused {
  const tenant = activeTenant(draft, tenantId)
  if (!tenant.ok) return tenant
  const bucket = bucketOf(draft, tenantId, name)
  if (!bucket.ok) return bucket
  const key = bucketKeys.bucketTags(bucket.value.id)
  const record = { tags }
  if (Object.keys(tags).length === 0) {
    if (draft.get(key) !== undefined) draft.remove(key)
    countConfig(draft, bucket.value, 'tags', 0)
    return accept(record)
  }
  const bytes = configBytes(context, record)
  const fault = quotaFault(draft, tenantId, { metadataBytes: configGrowth(bucket.value, 'tags', bytes) })
  if (fault !== null) return fault
  draft.put(key, record)
  countConfig(draft, bucket.value, 'tags', bytes)
  return accept(record)
}
