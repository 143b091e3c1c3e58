/**
 * Removes an empty bucket, and with it its policy, its CORS rules, its lifecycle rules, its replication, its tags and its notifications.
 */
import { tenantKeys } from '../tenants/keys.ts'
import { bucketKeys } from '../buckets/keys.ts'
import type { RemovalCommand } from './commands.ts'
import { assert } from '../base/assert.ts'
import type { Draft } from '../base/draft.ts'
import { accept, type Accepted, refuse, type Refused } from '../base/reply.ts'
import { bucketOf } from '../buckets/find-bucket.ts'
import type { BucketRecord } from '../buckets/records.ts'
import { forgetLifecycle } from '../lifecycle/rules.ts'
import { forgetSite, forgetWaiting } from '../sites/sites.ts'
import { leaveHooks } from '../events/hooks.ts'
import { activeTenant } from '../tenants/tenants.ts'
import { countTenant } from '../usage/usage.ts'

export function deleteBucket(
  draft: Draft,
  command: Extract<RemovalCommand, { type: 'deleteBucket' }>,
): Accepted<null> | Refused {
  const { tenantId, name } = command
  const tenant = activeTenant(draft, tenantId)
  if (!tenant.ok) return tenant
  const bucket = bucketOf(draft, tenantId, name)
  return bucket.ok ? removeBucket(draft, bucket.value, 'draining') : bucket
}

/** Refused unless the bucket is empty. `hooks`: whether their pending deliveries are still made. */
export function removeBucket(
  draft: Draft,
  bucket: BucketRecord,
  hooks: 'draining' | 'removed',
): Accepted<null> | Refused {
  const { id, tenantId, name, versionCount, deleteMarkerCount, uploadCount } = bucket
  if (versionCount > 0 || deleteMarkerCount > 0 || uploadCount > 0) {
    const what = `${versionCount} object versions, ${deleteMarkerCount} delete markers and ${uploadCount} unfinished uploads`
    return refuse('bucket_not_empty', `Cannot delete bucket: "${name}" holds ${what}`)
  }
  assert(bucket.logicalBytes === 0 && bucket.uploadBytes === 0, 'an empty bucket has no bytes')
  const tenant = draft.get(tenantKeys.tenant(tenantId))
  assert(tenant !== undefined && tenant.bucketCount > 0, 'a tenant with a bucket counts it')
  const counted = Object.values(bucket.configBytes ?? {}).reduce((sum, bytes) => sum + bytes, 0)
  if (counted > 0) countTenant(draft, tenantId, { metadataBytes: -counted })
  leaveHooks(draft, bucket, hooks)
  draft.remove(bucketKeys.bucket(tenantId, name))
  const policy = bucketKeys.bucketPolicy(id)
  if (draft.get(policy) !== undefined) draft.remove(policy)
  if (bucket.hasCors) draft.remove(bucketKeys.cors(id))
  forgetLifecycle(draft, bucket)
  forgetSite(draft, bucket)
  forgetWaiting(draft, bucket)
  const tags = bucketKeys.bucketTags(id)
  if (draft.get(tags) !== undefined) draft.remove(tags)
  draft.put(tenantKeys.tenant(tenantId), { ...tenant, bucketCount: tenant.bucketCount - 1 })
  return accept(null)
}
