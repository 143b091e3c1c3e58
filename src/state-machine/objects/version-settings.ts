/**
 * Changes the settings of a present version: tags, retention, legal hold.
 *
 * Owns: finding the version and the change. Knows nothing of: which locks may be set; that is locks.ts.
 */
import type { ApplyContext, View } from '../base/view.ts'
import type { ObjectCommand } from './commands.ts'
import { countContent } from '../buckets/buckets.ts'
import { bucketOf } from '../buckets/find-bucket.ts'
import type { BucketRecord } from '../buckets/records.ts'
import type { ObjectRecord, RetentionRecord, Tags, VersionSettings } from '../versions/records.ts'
import type { Draft } from '../base/draft.ts'
import { announce, type BucketEvent } from '../events/events.ts'
import { extensionFault, retentionFault } from '../versions/locks.ts'
import { quotaFault } from '../usage/quota.ts'
import { metered } from '../usage/record-bytes.ts'
import { type Accepted, accept, notFound, type Refused, refuse } from '../base/reply.ts'
import { activeTenant } from '../tenants/tenants.ts'
import { findVersion, newestVersion, VersionChain } from '../versions/versions.ts'

export function setObjectRetention(
  draft: Draft,
  command: Extract<ObjectCommand, { type: 'setObjectRetention' }>,
  context: ApplyContext,
): Accepted<ObjectRecord> | Refused {
  const found = lockable(draft, command)
  if (!found.ok) return found
  const { retention: after, bypassGovernance = false } = command
  const { retention: before } = found.value.object
  if (isSame(before, after)) return accept(found.value.object)
  const { confirmedTime } = context
  const fault =
    (after === null ? null : retentionFault(after, confirmedTime)) ??
    extensionFault({ before, after }, confirmedTime, bypassGovernance)
  if (fault !== null) return fault
  return change(draft, found.value, { retention: after }, { eventName: 's3:ObjectRetention:Put', context })
}

function isSame(one: RetentionRecord | null | undefined, other: RetentionRecord | null): boolean {
  if (one === null || other === null) return one === other
  return one?.mode === other.mode && one.until === other.until
}

export function setObjectLegalHold(
  draft: Draft,
  command: Extract<ObjectCommand, { type: 'setObjectLegalHold' }>,
  context: ApplyContext,
): Accepted<ObjectRecord> | Refused {
  const found = lockable(draft, command)
  if (!found.ok) return found
  const { legalHold } = command
  if (found.value.object.legalHold === legalHold) return accept(found.value.object)
  return change(draft, found.value, { legalHold }, { eventName: 's3:ObjectLegalHold:Put', context })
}

export function setObjectTags(
  draft: Draft,
  command: Extract<ObjectCommand, { type: 'setObjectTags' }>,
  context: ApplyContext,
): Accepted<ObjectRecord> | Refused {
  const found = objectAt(draft, command)
  if (!found.ok) return found
  const { tags } = command
  const { bucket, object } = found.value
  const share = metered(context, { ...object, tags })
  const more = (share.metadataBytes ?? 0) - (object.metadataBytes ?? 0)
  // Fewer tags always fit, also those of an object that counts for the first time.
  const fault = isFewer(tags, object.tags)
    ? null
    : quotaFault(draft, bucket.tenantId, { metadataBytes: more })
  if (fault !== null) return fault
  const eventName = Object.keys(tags).length === 0 ? 's3:ObjectTagging:Delete' : 's3:ObjectTagging:Put'
  return change(draft, found.value, { tags, ...share }, { eventName, context })
}

function isFewer(after: Tags, before: Tags): boolean {
  return Object.entries(after).every(([name, value]) => before[name] === value)
}

interface Found {
  readonly bucket: BucketRecord
  readonly object: ObjectRecord
}

interface VersionName {
  readonly tenantId: string
  readonly bucket: string
  readonly key: string
  /** The version id that clients use; null: the current version. */
  readonly versionId: string | null
}

function lockable(view: View, name: VersionName): Accepted<Found> | Refused {
  const found = objectAt(view, name)
  if (!found.ok || found.value.bucket.objectLockEnabled) return found
  return refuse('object_lock_not_enabled', `Bucket "${name.bucket}" has no object lock`)
}

/** A delete marker has no settings, so it is treated as absent. */
function objectAt(
  view: View,
  { tenantId, bucket: name, key, versionId }: VersionName,
): Accepted<Found> | Refused {
  const tenant = activeTenant(view, tenantId)
  if (!tenant.ok) return tenant
  const bucket = bucketOf(view, tenantId, name)
  if (!bucket.ok) return bucket
  const { id } = bucket.value
  const object = versionId === null ? newestVersion(view, id, key) : findVersion(view, id, key, versionId)
  if (object?.kind !== 'object')
    return notFound(
      versionId === null ? 'key' : 'version',
      `Object "${key}" does not exist in bucket "${name}"`,
    )
  return accept({ bucket: bucket.value, object })
}

function change(
  draft: Draft,
  { bucket, object }: Found,
  settings: Partial<VersionSettings> & Pick<ObjectRecord, 'metadataBytes'>,
  { eventName, context }: { readonly eventName: BucketEvent['eventName']; readonly context: ApplyContext },
): Accepted<ObjectRecord> {
  const chain = new VersionChain(draft, bucket.id, object.key)
  const changed = chain.adjust(object, settings)
  const { metadataBytes } = chain.change
  if (metadataBytes !== 0) countContent(draft, bucket, { metadataBytes })
  announce(draft, bucket, { eventName, version: changed }, context)
  return accept(changed)
}
