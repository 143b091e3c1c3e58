/**
 * Buckets of a tenant.
 *
 * Owns: names (unique per tenant), the number of buckets, and the counts of a bucket's contents.
 * Rule: counts change in the same entry as the rows that they count, so they are exact.
 */
import { tenantKeys } from '../tenants/keys.ts'
import { bucketKeys } from './keys.ts'
import type { ApplyContext, View } from '../base/view.ts'
import { isKeyPart } from '../base/row-key.ts'
import type { BucketCommand } from './commands.ts'
import { assert } from '../base/assert.ts'
import type { Draft } from '../base/draft.ts'
import { accept, type Accepted, refuse, type Refused } from '../base/reply.ts'
import { bucketIdAt } from '../base/version-id.ts'
import { bucketOf } from './find-bucket.ts'
import type { BucketRecord } from './records.ts'
import { activeTenant } from '../tenants/tenants.ts'
import { quotaOf } from '../usage/quota.ts'
import type { UsageRecord } from '../usage/records.ts'
import { countTenant } from '../usage/usage.ts'

const EMPTY_COUNTS = {
  objectCount: 0,
  versionCount: 0,
  deleteMarkerCount: 0,
  logicalBytes: 0,
  uploadCount: 0,
  uploadBytes: 0,
}

export function createBucket(
  draft: Draft,
  command: Extract<BucketCommand, { type: 'createBucket' }>,
  context: ApplyContext,
): Accepted<BucketRecord> | Refused {
  const { tenantId, name, versioning, objectLockEnabled, replicaOf } = command
  const tenant = activeTenant(draft, tenantId)
  if (!tenant.ok) return tenant
  if (tenant.value.restoring !== undefined)
    return refuse(
      'invalid_bucket_state',
      `Cannot create bucket: tenant "${tenantId}" is being restored by operation "${tenant.value.restoring}"`,
    )
  if (!isKeyPart(name)) {
    return refuse('invalid_bucket_name', 'Cannot create bucket: its name is empty or malformed')
  }
  if (draft.get(bucketKeys.bucket(tenantId, name)) !== undefined) {
    return refuse('bucket_already_exists', `Cannot create bucket: "${name}" exists already`)
  }
  if (objectLockEnabled && versioning !== 'Enabled')
    return refuse('invalid_bucket_state', 'Cannot create bucket: object lock needs versioning "Enabled"')
  const { bucketCount } = tenant.value
  const full = bucketsFault(draft, command, bucketCount)
  if (full !== null) return full
  const bucket: BucketRecord = {
    id: bucketIdAt(context),
    tenantId,
    name,
    createdAt: context.time,
    versioning,
    objectLockEnabled,
    ...EMPTY_COUNTS,
    ...(replicaOf === undefined ? {} : { replicaOf }),
  }
  draft.put(bucketKeys.bucket(tenantId, name), bucket)
  draft.put(tenantKeys.tenant(tenantId), { ...tenant.value, bucketCount: bucketCount + 1 })
  return accept(bucket)
}

/** Never back to Unversioned, and a bucket with object lock is never suspended. Idempotent. [decisions 2] */
export function setBucketVersioning(
  draft: Draft,
  command: Extract<BucketCommand, { type: 'setBucketVersioning' }>,
): Accepted<BucketRecord> | Refused {
  const { tenantId, name, versioning } = command
  const tenant = activeTenant(draft, tenantId)
  if (!tenant.ok) return tenant
  const bucket = bucketOf(draft, tenantId, name)
  if (!bucket.ok || bucket.value.versioning === versioning) return bucket
  if (versioning === 'Unversioned')
    return refuse(
      'invalid_request',
      `Bucket "${name}" has versions: it can be "Suspended", never "Unversioned"`,
    )
  if (versioning === 'Suspended' && bucket.value.objectLockEnabled)
    return refuse(
      'invalid_bucket_state',
      `Versioning of bucket "${name}" cannot be suspended: it has object lock`,
    )
  const changed = { ...bucket.value, versioning }
  draft.put(bucketKeys.bucket(tenantId, name), changed)
  return accept(changed)
}

function bucketsFault(
  view: View,
  { tenantId, bucketsMax }: Extract<BucketCommand, { type: 'createBucket' }>,
  bucketCount: number,
): Refused | null {
  const allowed = Math.min(bucketsMax, quotaOf(view, tenantId).maxBuckets ?? bucketsMax)
  if (bucketCount < allowed) return null
  const message = `Cannot create bucket: tenant "${tenantId}" has ${bucketCount} buckets and ${allowed} are allowed`
  return refuse(allowed < bucketsMax ? 'quota_exceeded' : 'invalid_request', message)
}

/** Changes of a bucket's counts, named like the members of the tenant's usage row. */
export type ContentChange = Partial<
  Pick<
    UsageRecord,
    'objects' | 'versions' | 'deleteMarkers' | 'logicalBytes' | 'uploads' | 'uploadBytes' | 'metadataBytes'
  >
>

/** Adds `change` to the counts of the bucket, as the draft has them, and of its tenant. */
export function countContent(draft: Draft, { tenantId, name }: BucketRecord, change: ContentChange): void {
  const {
    objects = 0,
    versions = 0,
    deleteMarkers = 0,
    logicalBytes = 0,
    uploads = 0,
    uploadBytes = 0,
  } = change
  const present = draft.get(bucketKeys.bucket(tenantId, name))
  assert(present !== undefined, 'a bucket is there while it is counted')
  const counted = {
    ...present,
    objectCount: present.objectCount + objects,
    versionCount: present.versionCount + versions,
    deleteMarkerCount: present.deleteMarkerCount + deleteMarkers,
    logicalBytes: present.logicalBytes + logicalBytes,
    uploadCount: present.uploadCount + uploads,
    uploadBytes: present.uploadBytes + uploadBytes,
  }
  const { objectCount, versionCount, deleteMarkerCount, uploadCount } = counted
  const leastCount = Math.min(objectCount, versionCount, deleteMarkerCount, uploadCount)
  const leastBytes = Math.min(counted.logicalBytes, counted.uploadBytes)
  assert(leastCount >= 0 && leastBytes >= 0, 'the counts of a bucket are never negative')
  draft.put(bucketKeys.bucket(tenantId, name), counted)
  countTenant(draft, tenantId, change)
}
