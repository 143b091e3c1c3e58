/**
 * Multipart uploads: create, put parts, abort.
 *
 * Owns: the rows of uploads and parts. Knows nothing of: versions; complete-upload.ts makes them.
 * Rules: a part counts in usage and quota from its entry on; the remaining parts of an ended upload are discarded, because
 * they may be too many for one entry.
 */
import { objectKeys } from './keys.ts'
import { bucketKeys } from '../buckets/keys.ts'
import { bodyKeys } from '../bodies/keys.ts'
import type { ApplyContext, View } from '../base/view.ts'
import { assert } from '../base/assert.ts'
import { bodyFault, type ChunksGone, dropBody, type UploadSessionEnded, writeBody } from '../bodies/bodies.ts'
import { countContent } from '../buckets/buckets.ts'
import type { PartRecord } from '../bodies/records.ts'
import type { BucketRecord } from '../buckets/records.ts'
import type { ObjectCommand, ObjectName } from './commands.ts'
import type { ExpiryRecord, UploadRecord } from './records.ts'
import type { Draft } from '../base/draft.ts'
import { expireAt, forgetExpiry } from './expiry-queue.ts'
import { settingsFault } from '../versions/locks.ts'
import { bucketFor } from './new-versions.ts'
import { PART_BYTES_MAX, PARTS_MAX, UPLOADS_PER_BUCKET_MAX } from './limits.ts'
import { quotaFault } from '../usage/quota.ts'
import { bareBytes, metered } from '../usage/record-bytes.ts'
import { type Accepted, accept, notFound, type Refused, refuse } from '../base/reply.ts'
import { findPart, storePart } from '../bodies/upload-parts.ts'
import { uploadIdAt, versionIdAt } from '../base/version-id.ts'

export function createUpload(
  draft: Draft,
  command: Extract<ObjectCommand, { type: 'createUpload' }>,
  context: ApplyContext,
): Accepted<UploadRecord> | Refused {
  const target = bucketFor(draft, command)
  if (!target.ok) return target
  const bucket = target.value
  const { tenantId, key, initiator, expiresInMs, contentType, metadata, representation, masterKeyId } =
    command
  const { tags, retention, legalHold, checksumAlg, checksumType, customerSeal } = command
  const share = metered(context, command)
  const fault =
    uploadsFault(bucket) ??
    quotaFault(draft, tenantId, { uploads: 1, ...share }) ??
    settingsFault(bucket, command, context.confirmedTime)
  if (fault !== null) return fault
  const uploadId = uploadIdAt(context)
  const createdAt = context.time
  const about = { uploadId, key, initiator, createdAt, expiresAt: createdAt + expiresInMs }
  const settings = { contentType, metadata, masterKeyId, tags, retention, legalHold, checksumAlg }
  const said = {
    ...(representation === undefined ? {} : { representation }),
    ...(checksumType === undefined ? {} : { checksumType }),
    ...(customerSeal === undefined ? {} : { customerSeal }),
  }
  const upload: UploadRecord = { ...about, ...settings, ...said, partCount: 0, bytes: 0, ...share }
  draft.put(objectKeys.upload(bucket.id, key, uploadId), upload)
  const what = { kind: 'upload', tenantId, bucket: bucket.name, bucketId: bucket.id, key, uploadId } as const
  expireAt(draft, { at: upload.expiresAt, id: uploadId, what })
  countContent(draft, bucket, { uploads: 1, ...share })
  return accept(upload)
}

function uploadsFault({ name, uploadCount }: BucketRecord): Refused | null {
  if (uploadCount < UPLOADS_PER_BUCKET_MAX) return null
  const message = `Cannot start an upload: bucket "${name}" has ${uploadCount} that are neither completed nor aborted, and may have ${UPLOADS_PER_BUCKET_MAX}; complete or abort some`
  return refuse('invalid_bucket_state', message)
}

/** A part may be sent again; it replaces the earlier one. `item`: its place in a command that puts several: each needs an id of its own. */
export function putPart(
  draft: Draft,
  command: Extract<ObjectCommand, { type: 'putPart' }>,
  context: ApplyContext,
  item = 0,
): Accepted<PartRecord> | Refused | ChunksGone | UploadSessionEnded {
  const found = uploadFor(draft, command)
  if (!found.ok) return found
  const { bucket, upload } = found.value
  const { tenantId, uploadId, partNumber, size, etag, checksums } = command
  if (!Number.isInteger(partNumber) || partNumber < 1 || partNumber > PARTS_MAX)
    return refuse('invalid_argument', `The part number ${partNumber} is not one of 1 to ${PARTS_MAX}`)
  if (size > PART_BYTES_MAX)
    return refuse('entity_too_large', `A part of ${size} bytes is larger than ${PART_BYTES_MAX}`)
  const place = { bucketId: bucket.id, uploadId }
  const old = findPart(draft, place, partNumber)
  const bytes = size - (old?.size ?? 0)
  const metadataBytes = old === undefined ? bareBytes(context) : 0
  const fault = quotaFault(draft, tenantId, { bytes, metadataBytes }) ?? bodyFault(draft, command)
  if (fault !== null) return fault
  const partId = versionIdAt(context, item)
  const body = writeBody(draft, { bucket, id: partId }, command.body, context)
  const part = { partNumber, partId, size, etag, checksums, lastModified: context.time, body }
  storePart(draft, place, part)
  const partCount = upload.partCount + (old === undefined ? 1 : 0)
  draft.put(objectKeys.upload(bucket.id, upload.key, uploadId), {
    ...upload,
    partCount,
    bytes: upload.bytes + bytes,
    ...(metadataBytes === 0 ? {} : { metadataBytes: (upload.metadataBytes ?? 0) + metadataBytes }),
  })
  countContent(draft, bucket, { uploadBytes: bytes, metadataBytes })
  if (old !== undefined) dropBody(draft, { bucket, id: old.partId }, old.body, context)
  return accept(part)
}

/** Idempotent: succeeds also if the upload does not exist. */
export function abortUpload(
  draft: Draft,
  command: Extract<ObjectCommand, { type: 'abortUpload' }>,
): Accepted<null> | Refused {
  const target = bucketFor(draft, command)
  if (!target.ok) return target
  const upload = draft.get(objectKeys.upload(target.value.id, command.key, command.uploadId))
  if (upload !== undefined) giveUp(draft, target.value, upload)
  return accept(null)
}

/** Ends an expired upload. */
export function endUpload(draft: Draft, what: Extract<ExpiryRecord['what'], { kind: 'upload' }>): void {
  const bucket = draft.get(bucketKeys.bucket(what.tenantId, what.bucket))
  const upload = draft.get(objectKeys.upload(what.bucketId, what.key, what.uploadId))
  if (upload === undefined) return
  assert(bucket?.id === what.bucketId, 'a bucket with an upload is not empty, so it stays')
  giveUp(draft, bucket, upload)
}

export function giveUp(draft: Draft, bucket: BucketRecord, upload: UploadRecord): void {
  closeUpload(draft, bucket, upload)
  discardParts(draft, bucket, upload)
}

/** Removes the upload itself; the caller has to move or discard its parts. */
export function closeUpload(draft: Draft, bucket: BucketRecord, upload: UploadRecord): void {
  const { key, uploadId, expiresAt, bytes, metadataBytes = 0 } = upload
  draft.remove(objectKeys.upload(bucket.id, key, uploadId))
  forgetExpiry(draft, { at: expiresAt, id: uploadId })
  countContent(draft, bucket, { uploads: -1, uploadBytes: -bytes, metadataBytes: -metadataBytes })
}

/** Discards the parts that are left in the pages of an ended upload; `partCount` and `bytes` are their totals. */
export function discardParts(
  draft: Draft,
  { id: bucketId, tenantId }: BucketRecord,
  { uploadId: id, partCount, bytes }: Pick<UploadRecord, 'uploadId' | 'partCount' | 'bytes'>,
): void {
  if (partCount === 0) return
  draft.put(bodyKeys.discard(id), { id, tenantId, bucketId, what: { kind: 'upload', partCount, bytes } })
}

export interface FoundUpload {
  readonly bucket: BucketRecord
  readonly upload: UploadRecord
}

export function uploadFor(
  view: View,
  name: ObjectName & { readonly uploadId: string },
): Accepted<FoundUpload> | Refused {
  const target = bucketFor(view, name)
  if (!target.ok) return target
  const { key, uploadId } = name
  const upload = view.get(objectKeys.upload(target.value.id, key, uploadId))
  if (upload !== undefined) return accept({ bucket: target.value, upload })
  return notFound(
    'upload',
    `Upload "${uploadId}" of "${key}" does not exist: it was completed, aborted, or has expired`,
  )
}
