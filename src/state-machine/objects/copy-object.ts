/**
 * Server-side copy: another version that names the same chunks. No bytes are copied.
 *
 * Rule: the source is the exact version that the gateway read; if it is gone the copy is refused, and no other version replaces it.
 */
import type { ApplyContext } from '../base/view.ts'
import type { ObjectCommand } from './commands.ts'
import { copyBody } from '../bodies/bodies.ts'
import { bucketOf } from '../buckets/find-bucket.ts'
import type { ObjectRecord } from '../versions/records.ts'
import type { Draft } from '../base/draft.ts'
import { announce } from '../events/events.ts'
import { bucketFor, newVersionFault, placeOf, putVersion } from './new-versions.ts'
import { OBJECT_COPY_BYTES_MAX } from './limits.ts'
import { type Accepted, accept, notFound, type Refused, refuse } from '../base/reply.ts'
import { versionIdAt } from '../base/version-id.ts'
import { versionAt } from '../versions/versions.ts'

export function copyObject(
  draft: Draft,
  command: Extract<ObjectCommand, { type: 'copyObject' }>,
  context: ApplyContext,
): Accepted<ObjectRecord> | Refused {
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
  const { size, etag } = found
  if (size > OBJECT_COPY_BYTES_MAX)
    return refuse('entity_too_large', `Cannot copy ${size} bytes: at most ${OBJECT_COPY_BYTES_MAX} at once`)
  const bucket = target.value
  const fault = newVersionFault(draft, { bucket, requested: command, size }, context)
  if (fault !== null) return fault
  const id = versionIdAt(context)
  const places = { from: placeOf(from.value, found), to: { bucket, id } }
  const body = copyBody(draft, places, found.body)
  const wanted = command.checksums
  const checksums = { ...found.checksums, ...wanted }
  const composite = wanted === undefined ? found.composite : undefined
  const made = { id, size, etag, checksums, composite, body }
  const version = putVersion(draft, { bucket, requested: command, made }, context)
  announce(draft, bucket, { eventName: 's3:ObjectCreated:Copy', version }, context)
  return accept(version)
}
