/**
 * Makes a new version of a key, for a put, a copy, or the completion of an upload.
 *
 * Owns: the order of refusals after the body was checked, and what a new version replaces.
 * Rules: precondition, then quota, then locks; nothing is written before all of them pass. A bucket with versioning enabled
 * keeps earlier versions; otherwise the null version is replaced, and only if it is not locked.
 */
import type { ApplyContext, View } from '../base/view.ts'
import { isKeyPart } from '../base/row-key.ts'
import { type BodyPlace, discardBody } from '../bodies/bodies.ts'
import type { VersionId } from '../base/record-ids.ts'
import type { BodyRecord } from '../bodies/records.ts'
import { countContent } from '../buckets/buckets.ts'
import { bucketOf } from '../buckets/find-bucket.ts'
import type { BucketRecord } from '../buckets/records.ts'
import type { NewVersion, ObjectName, WritePrecondition } from './commands.ts'
import type { ObjectRecord, VersionRecord } from '../versions/records.ts'
import type { Draft } from '../base/draft.ts'
import { lockOf, retentionOfNew, settingsFault } from '../versions/locks.ts'
import { preconditionFault } from './preconditions.ts'
import { quotaFault } from '../usage/quota.ts'
import { metered } from '../usage/record-bytes.ts'
import { type Accepted, type Refused, refuse } from '../base/reply.ts'
import { lateReplicaFault } from '../sites/late-replicas.ts'
import { MARK_NAME } from '../sites/mark.ts'
import { activeTenant } from '../tenants/tenants.ts'
import { currentObject, findVersion, NULL_VERSION, VersionChain } from '../versions/versions.ts'

/** The bucket of a command on a key. */
export function bucketFor(
  view: View,
  { tenantId, bucket, key }: ObjectName,
): Accepted<BucketRecord> | Refused {
  const tenant = activeTenant(view, tenantId)
  if (!tenant.ok) return tenant
  if (!isKeyPart(key))
    return refuse('invalid_key', 'The object key is empty, contains a NUL or is not valid Unicode')
  return bucketOf(view, tenantId, bucket)
}

/** What a completed upload fixed when it was created. */
interface Earlier {
  /** Bytes that count in the quota already, as parts. */
  readonly bytes: number
  /** Its share in the metadata of the tenant. */
  readonly metadataBytes: number
  /** When its locks were requested: they were valid then, and may have ended since. */
  readonly at: number
}

/** Null: the version may be made. */
export function newVersionFault(
  view: View,
  {
    bucket,
    requested,
    size,
    earlier,
  }: {
    readonly bucket: BucketRecord
    readonly requested: NewVersion
    readonly size: number
    readonly earlier?: Earlier
  },
  context: ApplyContext,
): Refused | null {
  const { tenantId, key, precondition } = requested
  const current = currentObject(view, bucket.id, key)
  const replaced = replacedBy(view, bucket, key)
  const freed = replaced?.kind === 'object' ? replaced.size : 0
  const { metadataBytes = 0 } = metered(context, requested)
  const growth = {
    bytes: size - (earlier?.bytes ?? 0) - freed,
    objects: current === undefined ? 1 : 0,
    versions: replaced === undefined ? 1 : 0,
    metadataBytes: metadataBytes - (earlier?.metadataBytes ?? 0) - (replaced?.metadataBytes ?? 0),
  }
  return (
    unmetFault(precondition, current) ??
    lateReplicaFault(view, { bucketId: bucket.id, key, ...sentMark(requested) }, context) ??
    quotaFault(view, tenantId, growth) ??
    settingsFault(bucket, requested, Math.min(earlier?.at ?? context.confirmedTime, context.confirmedTime)) ??
    (replaced === undefined ? null : lockedFault(replaced, context))
  )
}

/** An upload by replication has a condition always; one without is a client that stores again what it has read. */
function sentMark({ precondition: { ifMatch, ifNoneMatch }, metadata }: NewVersion) {
  const mark = ifMatch === null && ifNoneMatch === null ? undefined : metadata[MARK_NAME]
  return { mark, isDeletion: false }
}

/** Names the key as missing where a condition asks for an object that is not there: S3 has a code of its own for that. */
function unmetFault(precondition: WritePrecondition, current: ObjectRecord | undefined): Refused | null {
  const fault = preconditionFault(precondition, current)
  return fault === null || current !== undefined ? fault : { ...fault, missing: 'key' }
}

/** The version that a new one replaces: the null version, unless versioning is enabled. */
export function replacedBy(view: View, bucket: BucketRecord, key: string): VersionRecord | undefined {
  switch (bucket.versioning) {
    case 'Enabled':
      return undefined
    case 'Suspended':
      return findVersion(view, bucket.id, key, NULL_VERSION)
    case 'Unversioned':
      return currentObject(view, bucket.id, key)
  }
}

export function lockedFault(
  version: VersionRecord,
  { confirmedTime }: ApplyContext,
  bypassGovernance = false,
): Refused | null {
  const lock = lockOf(version, confirmedTime, bypassGovernance)
  return lock === null
    ? null
    : refuse('object_locked', `Cannot remove this version of "${version.key}": ${lock}`)
}

export interface VersionBody {
  readonly id: VersionId
  readonly size: number
  readonly etag: string
  readonly checksums: ObjectRecord['checksums']
  /** Undefined: it has none. */
  readonly composite: ObjectRecord['composite']
  readonly body: BodyRecord
}

/** Call it after `newVersionFault` has returned null and the rows of the body are written. */
export function putVersion(
  draft: Draft,
  {
    bucket,
    requested,
    made,
  }: { readonly bucket: BucketRecord; readonly requested: NewVersion; readonly made: VersionBody },
  context: ApplyContext,
): ObjectRecord {
  const { key, contentType, metadata, representation, masterKeyId, tags, retention, legalHold } = requested
  const { customerSeal } = requested
  const { id: versionId, size, etag, checksums, composite, body } = made
  const chain = new VersionChain(draft, bucket.id, key)
  const replaced = replacedBy(draft, bucket, key)
  if (replaced !== undefined) chain.remove(replaced)
  const object = chain.push({
    kind: 'object',
    key,
    versionId,
    isNull: bucket.versioning !== 'Enabled',
    lastModified: context.time,
    older: null,
    newer: null,
    size,
    etag,
    contentType,
    checksums,
    ...(composite === undefined ? {} : { composite }),
    metadata,
    ...(representation === undefined ? {} : { representation }),
    masterKeyId,
    ...(customerSeal === undefined ? {} : { customerSeal }),
    body,
    tags,
    retention: retentionOfNew(bucket, retention, context.time),
    legalHold,
    ...metered(context, requested),
  })
  countVersions(draft, bucket, chain)
  if (replaced?.kind === 'object') discardBody(draft, placeOf(bucket, replaced), replaced.body, context)
  return object
}

export function countVersions(draft: Draft, bucket: BucketRecord, { change }: VersionChain): void {
  const { bytes: logicalBytes, ...counts } = change
  countContent(draft, bucket, { ...counts, logicalBytes })
}

export function placeOf(bucket: BucketRecord, { versionId: id }: ObjectRecord): BodyPlace {
  return { bucket, id }
}
