/**
 * Versions and delete markers out of a backup.
 *
 * Owns: what a restored version keeps. Rules: times, locks, tags, digests and etag are those of the backup, also a retention that has ended; the version id is one
 * of this cluster, and ids ascend in the order in which the versions were made; nothing is announced, so no webhook and no other site receives it.
 */
import { assert } from '../base/assert.ts'
import type { Draft } from '../base/draft.ts'
import { isKeyPart } from '../base/row-key.ts'
import { type Accepted, accept, type Refused, refuse } from '../base/reply.ts'
import { versionIdAt } from '../base/version-id.ts'
import type { ApplyContext } from '../base/view.ts'
import {
  bodyFault,
  type ChunksGone,
  type UploadSessionEnded,
  writeBody,
  writeParts,
} from '../bodies/bodies.ts'
import type { BodyRecord } from '../bodies/records.ts'
import { takeParts } from '../bodies/upload-parts.ts'
import type { BucketRecord } from '../buckets/records.ts'
import { objectKeys } from '../objects/keys.ts'
import { closeUpload } from '../objects/multipart.ts'
import { countVersions } from '../objects/new-versions.ts'
import { quotaFault } from '../usage/quota.ts'
import { metered } from '../usage/record-bytes.ts'
import type { ObjectRecord, VersionRecord } from '../versions/records.ts'
import { NULL_VERSION, VersionChain } from '../versions/versions.ts'
import type { RestoredFacts, RestoreItem } from './commands.ts'

export type StepReply<V> = Accepted<V> | Refused | ChunksGone | UploadSessionEnded

interface Restored<W extends RestoreItem['what']> {
  readonly bucket: BucketRecord
  readonly item: Extract<RestoreItem, { what: W }>
  readonly n: number
}

export function restoreMarker(
  draft: Draft,
  { bucket, item, n }: Restored<'marker'>,
  context: ApplyContext,
): Accepted<VersionRecord> | Refused {
  const { key, isNull, lastModified } = item
  const chain = new VersionChain(draft, bucket.id, key)
  const share = metered(context, { key })
  const fault = placeFault(chain, item) ?? quotaFault(draft, bucket.tenantId, { versions: 1, ...share })
  if (fault !== null) return fault
  const marker = chain.push({
    kind: 'deleteMarker',
    key,
    versionId: versionIdAt(context, n),
    isNull,
    lastModified,
    older: null,
    newer: null,
    ...share,
  })
  countVersions(draft, bucket, chain)
  return accept(marker)
}

export function restoreVersion(
  draft: Draft,
  { bucket, item, n }: Restored<'version'>,
  context: ApplyContext,
): StepReply<ObjectRecord> {
  const { tenantId } = bucket
  const { size, body } = item
  const chain = new VersionChain(draft, bucket.id, item.key)
  const fault =
    placeFault(chain, item) ??
    growthFault(draft, { bucket, chain, item, bytes: size }, context) ??
    bodyFault(draft, { tenantId, size, body })
  if (fault !== null) return fault
  const id = versionIdAt(context, n)
  const written = writeBody(draft, { bucket, id }, body, context)
  return accept(push(draft, { bucket, chain, item, id, body: written }, context))
}

/** Its parts have counted since they were put. */
export function restoreAssembled(
  draft: Draft,
  { bucket, item, n, uploadId }: Restored<'assembled'> & { readonly uploadId: string },
  context: ApplyContext,
): Accepted<ObjectRecord> | Refused {
  const { key, parts: count } = item
  const upload = draft.get(objectKeys.upload(bucket.id, key, uploadId))
  if (upload === undefined)
    return refuse('precondition_failed', `Cannot assemble "${key}": the upload of its parts has expired`)
  const chain = new VersionChain(draft, bucket.id, key)
  const bytes = item.size - upload.bytes
  const fault = placeFault(chain, item) ?? growthFault(draft, { bucket, chain, item, bytes }, context)
  if (fault !== null) return fault
  const place = { bucketId: bucket.id, uploadId }
  const numbers = Array.from({ length: count }, (_, at) => at + 1)
  const parts = takeParts(draft, place, numbers)
  if (parts.length !== count || upload.partCount !== count || bytes !== 0)
    return refuse('precondition_failed', `Cannot assemble "${key}": its parts are not those that were put`)
  const id = versionIdAt(context, n)
  const body = writeParts(
    draft,
    { bucket, id },
    parts.map(({ partId, size, body, partNumber, checksums }) => ({
      partId,
      size,
      body,
      partNumber,
      checksums,
    })),
  )
  closeUpload(draft, bucket, upload)
  return accept(push(draft, { bucket, chain, item, id, body }, context))
}

/** Null: the version fits above those of its key. */
function placeFault(
  chain: VersionChain,
  { key, isNull }: { readonly key: string; readonly isNull: boolean },
): Refused | null {
  if (!isKeyPart(key)) return refuse('invalid_key', 'Cannot restore an object: its key is malformed')
  if (!isNull || chain.find(NULL_VERSION) === undefined) return null
  return refuse('invalid_argument', `Cannot restore "${key}": it has a second null version`)
}

function growthFault(
  draft: Draft,
  about: {
    readonly bucket: BucketRecord
    readonly chain: VersionChain
    readonly item: RestoredFacts
    readonly bytes: number
  },
  context: ApplyContext,
): Refused | null {
  const { bucket, chain, item, bytes } = about
  const objects = chain.newest?.kind === 'object' ? 0 : 1
  return quotaFault(draft, bucket.tenantId, { bytes, objects, versions: 1, ...metered(context, item) })
}

function push(
  draft: Draft,
  made: {
    readonly bucket: BucketRecord
    readonly chain: VersionChain
    readonly item: RestoredFacts
    readonly id: string
    readonly body: BodyRecord
  },
  context: ApplyContext,
): ObjectRecord {
  const { bucket, chain, item, id: versionId, body } = made
  const { key, isNull, lastModified, size, etag, contentType, checksums, metadata, masterKeyId } = item
  const { composite, representation, customerSeal, tags, retention, legalHold } = item
  assert(size >= 0, 'an object has a size')
  const object: ObjectRecord = chain.push({
    kind: 'object',
    key,
    versionId,
    isNull,
    lastModified,
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
    retention,
    legalHold,
    ...metered(context, item),
  })
  countVersions(draft, bucket, chain)
  return object
}
