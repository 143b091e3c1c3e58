/**
 * Buckets of a tenant.
 *
 * Owns: names (unique per tenant), the number of buckets, and what a bucket counts of its objects.
 * Rule: objectCount and logicalBytes change in the same entry as the objects they count, so they are exact.
 */
import { assert } from './assert.ts'
import type { Command } from './commands.ts'
import type { Draft } from './draft.ts'
import { isKeyPart, keys } from './keys.ts'
import type { BucketRecord, TenantId } from './records.ts'
import { type Accepted, accept, type Refused, refuse } from './reply.ts'
import { activeTenant } from './tenants.ts'
import { countTenant } from './usage.ts'
import { bucketIdAt } from './version-id.ts'
import type { ApplyContext, View } from './view.ts'

export function createBucket(
  draft: Draft,
  command: Extract<Command, { type: 'createBucket' }>,
  context: ApplyContext,
): Accepted<BucketRecord> | Refused {
  const { tenantId, name, bucketsMax } = command
  const tenant = activeTenant(draft, tenantId)
  if (!tenant.ok) return tenant
  if (!isKeyPart(name)) {
    return refuse('invalid_bucket_name', 'Cannot create bucket: its name is empty or malformed')
  }
  if (draft.get(keys.bucket(tenantId, name)) !== undefined) {
    return refuse('bucket_already_exists', `Cannot create bucket: "${name}" exists already`)
  }
  const { bucketCount } = tenant.value
  if (bucketCount >= bucketsMax) {
    return refuse(
      'invalid_request',
      `Cannot create bucket: tenant "${tenantId}" has ${bucketCount} buckets and ${bucketsMax} are allowed`,
    )
  }
  const bucket: BucketRecord = {
    id: bucketIdAt(context),
    tenantId,
    name,
    createdAt: context.time,
    versioning: 'Unversioned',
    objectLockEnabled: false,
    objectCount: 0,
    logicalBytes: 0,
  }
  draft.put(keys.bucket(tenantId, name), bucket)
  draft.put(keys.tenant(tenantId), { ...tenant.value, bucketCount: bucketCount + 1 })
  return accept(bucket)
}

export function deleteBucket(
  draft: Draft,
  command: Extract<Command, { type: 'deleteBucket' }>,
): Accepted<null> | Refused {
  const { tenantId, name } = command
  const tenant = activeTenant(draft, tenantId)
  if (!tenant.ok) return tenant
  const bucket = bucketOf(draft, tenantId, name)
  if (!bucket.ok) return bucket
  if (bucket.value.objectCount > 0) {
    return refuse('bucket_not_empty', `Cannot delete bucket: "${name}" holds objects`)
  }
  assert(bucket.value.logicalBytes === 0, 'a bucket without objects has no bytes')
  const { bucketCount } = tenant.value
  assert(bucketCount > 0, 'a tenant with a bucket counts it')
  draft.remove(keys.bucket(tenantId, name))
  draft.put(keys.tenant(tenantId), { ...tenant.value, bucketCount: bucketCount - 1 })
  return accept(null)
}

export function bucketOf(view: View, tenantId: TenantId, name: string): Accepted<BucketRecord> | Refused {
  const bucket = view.get(keys.bucket(tenantId, name))
  return bucket === undefined ? refuse('not_found', `Bucket "${name}" does not exist`) : accept(bucket)
}

export interface UsageChange {
  readonly objects: number
  readonly bytes: number
}

export function countUsage(draft: Draft, bucket: BucketRecord, change: UsageChange): void {
  const objectCount = bucket.objectCount + change.objects
  const logicalBytes = bucket.logicalBytes + change.bytes
  assert(objectCount >= 0 && logicalBytes >= 0, 'a bucket never holds less than nothing')
  draft.put(keys.bucket(bucket.tenantId, bucket.name), { ...bucket, objectCount, logicalBytes })
  countTenant(draft, bucket.tenantId, { objects: change.objects, logicalBytes: change.bytes })
}
