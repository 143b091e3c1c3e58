/**
 * The completion of a multipart upload: its parts become one version.
 *
 * Rules: exactly once: a repeated request with the same parts gets the same answer for a day; the parts are those that the
 * caller names, by number and etag, in ascending order, all but the last large enough. [decisions 6, 7]
 */
import { objectKeys } from './keys.ts'
import type { ApplyContext, View } from '../base/view.ts'
import type { ObjectCommand } from './commands.ts'
import { writeParts } from '../bodies/bodies.ts'
import type { Draft } from '../base/draft.ts'
import { announce } from '../events/events.ts'
import { expireAt } from './expiry-queue.ts'
import { closeUpload, discardParts, uploadFor } from './multipart.ts'
import { bucketFor, newVersionFault, putVersion } from './new-versions.ts'
import { OBJECT_BYTES_MAX, PART_BYTES_MIN, PARTS_MAX } from './limits.ts'
import type { ObjectPart, PartRecord } from '../bodies/records.ts'
import type { BucketRecord } from '../buckets/records.ts'
import type { UploadRecord } from './records.ts'
import type { ObjectRecord } from '../versions/records.ts'
import { type Accepted, accept, notFound, type Refused, refuse } from '../base/reply.ts'
import { partFinder, takeParts } from '../bodies/upload-parts.ts'
import { versionIdAt } from '../base/version-id.ts'

const ANSWER_KEPT_MS = 24 * 3_600_000
/** From this feature level on, parts of an object keep their numbers and checksums; older nodes keep none. */
const DESCRIBES_PARTS_LEVEL = 4

type CompleteCommand = Extract<ObjectCommand, { type: 'completeUpload' }>

export function completeUpload(
  draft: Draft,
  command: CompleteCommand,
  context: ApplyContext,
): Accepted<ObjectRecord> | Refused {
  const answer = completedEarlier(draft, command)
  if (answer !== null) return answer
  const found = uploadFor(draft, command)
  if (!found.ok) return found
  const { bucket, upload } = found.value
  const chosen = chosenParts(draft, bucket, command)
  if (!chosen.ok) return chosen
  const size = chosen.value.reduce((bytes, part) => bytes + part.size, 0)
  if (size > OBJECT_BYTES_MAX)
    return refuse('entity_too_large', `The parts make ${size} bytes, at most ${OBJECT_BYTES_MAX} are allowed`)
  const requested = { ...command, ...settingsOf(upload) }
  const { bytes, metadataBytes = 0, createdAt: at } = upload
  const earlier = { bytes, metadataBytes, at }
  const fault = newVersionFault(draft, { bucket, requested, size, earlier }, context)
  if (fault !== null) return fault
  const id = versionIdAt(context)
  const parts = chosen.value.map((part) => objectPart(part, context))
  const body = writeParts(draft, { bucket, id }, parts)
  closeUpload(draft, bucket, upload)
  const place = { bucketId: bucket.id, uploadId: upload.uploadId }
  takeParts(
    draft,
    place,
    chosen.value.map(({ partNumber }) => partNumber),
  )
  const unlisted = { partCount: upload.partCount - parts.length, bytes: upload.bytes - size }
  discardParts(draft, bucket, { ...upload, ...unlisted })
  const { etag, checksums, composite } = command
  const made = { id, size, etag, checksums, composite, body }
  const object = putVersion(draft, { bucket, requested, made }, context)
  announce(draft, bucket, { eventName: 's3:ObjectCreated:CompleteMultipartUpload', version: object }, context)
  keepAnswer(draft, { bucket, command, object }, context)
  return accept(object)
}

/** What is known of a part below that level is gone with its upload. */
function objectPart(
  { partId, size, body, partNumber, checksums }: PartRecord,
  { featureLevel }: ApplyContext,
): ObjectPart {
  const piece = { partId, size, body }
  return featureLevel < DESCRIBES_PARTS_LEVEL ? piece : { ...piece, partNumber, checksums }
}

function settingsOf(upload: UploadRecord) {
  const { contentType, metadata, representation, masterKeyId, tags, retention, legalHold, customerSeal } =
    upload
  return {
    contentType,
    metadata,
    masterKeyId,
    tags,
    retention,
    legalHold,
    ...(representation === undefined ? {} : { representation }),
    ...(customerSeal === undefined ? {} : { customerSeal }),
  }
}

function completedEarlier(view: View, command: CompleteCommand): Accepted<ObjectRecord> | Refused | null {
  const target = bucketFor(view, command)
  if (!target.ok) return target
  const record = view.get(objectKeys.completed(target.value.id, command.key, command.uploadId))
  if (record === undefined) return null
  if (record.fingerprint === command.fingerprint) return accept(record.object)
  return notFound('upload', `Upload "${command.uploadId}" was completed with other parts`)
}

function keepAnswer(
  draft: Draft,
  {
    bucket,
    command,
    object,
  }: { readonly bucket: BucketRecord; readonly command: CompleteCommand; readonly object: ObjectRecord },
  context: ApplyContext,
): void {
  const { key, uploadId, fingerprint } = command
  const at = context.time + ANSWER_KEPT_MS
  draft.put(objectKeys.completed(bucket.id, key, uploadId), { object, fingerprint, expiresAt: at })
  expireAt(draft, { at, id: uploadId, what: { kind: 'completed', bucketId: bucket.id, key, uploadId } })
}

function chosenParts(
  view: View,
  bucket: BucketRecord,
  { uploadId, parts }: CompleteCommand,
): Accepted<readonly PartRecord[]> | Refused {
  if (parts.length === 0 || parts.length > PARTS_MAX)
    return refuse(
      'invalid_request',
      `Cannot complete the upload: name 1 to ${PARTS_MAX} parts, not ${parts.length}`,
    )
  const find = partFinder(view, { bucketId: bucket.id, uploadId })
  const chosen: PartRecord[] = []
  let before = 0
  for (const { partNumber, etag } of parts) {
    if (partNumber <= before)
      return refuse(
        'invalid_part_order',
        `Part ${partNumber} comes after part ${before}: name the parts in ascending order`,
      )
    before = partNumber
    const part = find(partNumber)
    if (part === undefined) return refuse('invalid_part', `Part ${partNumber} was never uploaded`)
    if (part.etag !== etag)
      return refuse('invalid_part', `Part ${partNumber} has the etag "${part.etag}", not "${etag}"`)
    chosen.push(part)
  }
  const small = chosen.slice(0, -1).find((part) => part.size < PART_BYTES_MIN)
  if (small === undefined) return accept(chosen)
  const message = `Part ${small.partNumber} has ${small.size} bytes: every part except the last needs ${PART_BYTES_MIN} or more`
  return refuse('entity_too_small', message)
}
