/**
 * Server-side copy: another version that names the same chunks, or the same bytes sealed with another key.
 *
 * Rule: the source is the exact version that the gateway read; if it is gone the copy is refused, and no other version replaces it.
 */
import type { ApplyContext, View } from '../base/view.ts'
import type { ObjectCommand, StoredCopy } from './commands.ts'
import {
  bodyFault,
  type BodyPlace,
  type ChunksGone,
  copyBody,
  type UploadSessionEnded,
  writeBody,
} from '../bodies/bodies.ts'
import { bucketOf } from '../buckets/find-bucket.ts'
import type { BucketRecord } from '../buckets/records.ts'
import type { ObjectRecord } from '../versions/records.ts'
import type { Draft } from '../base/draft.ts'
import { announce } from '../events/events.ts'
import { bucketFor, newVersionFault, placeOf, putVersion, type VersionBody } from './new-versions.ts'
import { OBJECT_COPY_BYTES_MAX } from './limits.ts'
import { type Accepted, accept, notFound, type Refused, refuse } from '../base/reply.ts'
import { versionIdAt } from '../base/version-id.ts'
import { versionAt } from '../versions/versions.ts'

type CopyCommand = Extract<ObjectCommand, { type: 'copyObject' }>

export function copyObject(
  draft: Draft,
  command: CopyCommand,
  context: ApplyContext,
): Accepted<ObjectRecord> | Refused | ChunksGone | UploadSessionEnded {
  const target = bucketFor(draft, command)
  if (!target.ok) return target
  const { tenantId, source } = command
  const from = bucketOf(draft, tenantId, source.bucket)
  if (!from.ok) return from
  const found = versionAt(draft, from.value.id, source.key, source.versionId)
  if (found?.kind !== 'object')
    return notFound(
      'key',
      `Cannot copy: the version of "${source.key}" in bucket "${source.bucket}" no longer exists`,
    )
  const { size } = found
  if (size > OBJECT_COPY_BYTES_MAX)
    return refuse('entity_too_large', `Cannot copy ${size} bytes: at most ${OBJECT_COPY_BYTES_MAX} at once`)
  const bucket = target.value
  const fault =
    newVersionFault(draft, { bucket, requested: command, size }, context) ??
    storedFault(draft, command, found)
  if (fault !== null) return fault
  const to = { bucket, id: versionIdAt(context) }
  const made =
    command.stored === undefined
      ? sameBody(draft, command, { found, from: from.value, to })
      : storedBody(draft, command.stored, to, context)
  const version = putVersion(draft, { bucket, requested: command, made }, context)
  announce(draft, bucket, { eventName: 's3:ObjectCreated:Copy', version }, context)
  return accept(version)
}

interface Places {
  readonly found: ObjectRecord
  readonly from: BucketRecord
  readonly to: BodyPlace
}

function sameBody(
  draft: Draft,
  { checksums: wanted }: CopyCommand,
  { found, from, to }: Places,
): VersionBody {
  const { size, etag } = found
  const body = copyBody(draft, { from: placeOf(from, found), to }, found.body)
  const checksums = { ...found.checksums, ...wanted }
  const composite = wanted === undefined ? found.composite : undefined
  return { id: to.id, size, etag, checksums, composite, body }
}

/** Why the stored bytes cannot be the copy. Null: they can. */
function storedFault(
  view: View,
  { tenantId, stored, customerSeal }: CopyCommand,
  found: ObjectRecord,
): Refused | ChunksGone | UploadSessionEnded | null {
  if (stored !== undefined) {
    if (stored.size === found.size) return bodyFault(view, { tenantId, size: stored.size, body: stored.body })
    return refuse('invalid_argument', `Cannot copy ${found.size} bytes as ${stored.size}`)
  }
  const isSameKey = customerSeal?.salt === found.customerSeal?.salt
  return isSameKey ? null : refuse('invalid_argument', 'Cannot copy chunks under another key than theirs')
}

function storedBody(
  draft: Draft,
  { size, etag, checksums, body }: StoredCopy,
  to: BodyPlace,
  context: ApplyContext,
): VersionBody {
  const written = writeBody(draft, to, body, context)
  return { id: to.id, size, etag, checksums, composite: undefined, body: written }
}
