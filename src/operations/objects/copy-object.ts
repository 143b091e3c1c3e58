/**
 * copyObject: the ladder for the target, then for the source -> commit. No byte moves. [native: copy request body]
 *
 * Rules: the caller needs write scope on the target and read scope on the source, both in its own tenant. The commit names
 * the version that was looked at; when that one went in between, the source is looked at once more.
 */
import { authorize } from '../../access/authorize.ts'
import type { AccessKeyPrincipal } from '../../access/base/principal.ts'
import { Refusal } from '../../base/refusal.ts'
import type { BucketRecord } from '../../state-machine/buckets/records.ts'
import type { Command } from '../../state-machine/commands.ts'
import type { WritePrecondition } from '../../state-machine/objects/commands.ts'
import type { ObjectRecord } from '../../state-machine/versions/records.ts'
import { OBJECT_COPY_BYTES_MAX } from '../../state-machine/objects/limits.ts'
import type { Services } from '../base/services.ts'
import { settle } from '../../commands/settle.ts'
import { findTenant } from '../tenants/find-tenant.ts'
import { failedCondition, type ReadConditions } from './conditions.ts'
import {
  authorizeSettings,
  type FoundKey,
  type FoundObject,
  keyFor,
  type KeyName,
  objectFor,
  type ObjectName,
  refuseEarly,
} from './object-checks.ts'

interface CopyObjectInput extends KeyName {
  readonly source: ObjectName
  /** On the source. */
  readonly conditions: ReadConditions
  /** Null: those of the source. */
  readonly replacement: Pick<ObjectRecord, 'contentType' | 'metadata'> | null
  /** On the target. */
  readonly precondition: WritePrecondition
}

const LOOKS_MAX = 2

export async function copyObject(
  services: Services,
  principal: AccessKeyPrincipal,
  input: CopyObjectInput,
): Promise<FoundObject> {
  for (let look = 1; ; look++) {
    const { bucket, command } = planCopy(services, principal, input)
    const reply = await services.propose(command)
    if (reply.ok || reply.code !== 'not_found' || look === LOOKS_MAX) return { bucket, object: settle(reply) }
    await services.cluster.readBarrier()
  }
}

interface CopyPlan {
  readonly bucket: BucketRecord
  readonly command: Extract<Command, { type: 'copyObject' }>
}

function planCopy(services: Services, principal: AccessKeyPrincipal, input: CopyObjectInput): CopyPlan {
  const target = keyFor(services, { principal, operationId: 'copyObject' }, input)
  const source = sourceFor(services, principal, input.source)
  refuseCopy(services, input, { target, source })
  authorizeTags(services, principal, input, source)
  const { bucket, key } = target
  const { contentType, metadata } = input.replacement ?? source.object
  const { masterKeyId } = findTenant(services, principal.tenantId)
  const requested = {
    tenantId: principal.tenantId,
    bucket: bucket.name,
    key,
    contentType,
    metadata,
    masterKeyId,
    precondition: input.precondition,
    tags: source.object.tags,
    // Locks are of a version, not of its bytes. [S3 CopyObject]
    retention: null,
    legalHold: false,
  }
  refuseEarly(services, bucket, requested, source.object.size)
  const { versionId } = source.object
  const from = { bucket: source.bucket.name, key: source.object.key, versionId }
  return { bucket, command: { type: 'copyObject', ...requested, source: from } }
}

/** Tags go along: they are read there and written here, as by their own operations. */
function authorizeTags(
  services: Services,
  principal: AccessKeyPrincipal,
  { bucket, key, source }: CopyObjectInput,
  { object: { tags } }: FoundObject,
): void {
  if (Object.keys(tags).length === 0) return
  authorize(principal, 'getObjectTags', source, services.state)
  authorizeSettings(services, principal, { bucket, key }, { tags, retention: null, legalHold: false })
}

/** A delete marker has nothing to copy; the method that the ladder speaks of is that of another path. */
function sourceFor(services: Services, principal: AccessKeyPrincipal, name: ObjectName): FoundObject {
  try {
    return objectFor(services, { principal, operationId: 'getObject' }, name)
  } catch (error) {
    if (!(error instanceof Refusal) || error.code !== 'method_not_allowed') throw error
    throw new Refusal('invalid_request', `Cannot copy "${name.key}": its version is a delete marker`, {
      cause: error,
    })
  }
}

/** Throws Refusal for what source and request alone tell. */
function refuseCopy(
  services: Services,
  { conditions, replacement }: CopyObjectInput,
  { target, source }: { readonly target: FoundKey; readonly source: FoundObject },
): void {
  const { key, size, versionId, etag } = source.object
  if (size > OBJECT_COPY_BYTES_MAX)
    throw new Refusal(
      'entity_too_large',
      `Cannot copy "${key}": ${size} bytes are more than the ${OBJECT_COPY_BYTES_MAX} of one copy; copy it in parts`,
    )
  const current = services.state.object(target.bucket, target.key)
  if (replacement === null && target.bucket.id === source.bucket.id && current?.versionId === versionId)
    throw new Refusal(
      'invalid_request',
      `Cannot copy "${key}" to itself: nothing would change; give "metadataDirective":"REPLACE" to change its metadata`,
    )
  if (failedCondition(conditions, source.object) !== null)
    throw new Refusal(
      'precondition_failed',
      `The source "${key}" has the etag "${etag}" and was stored at ${new Date(source.object.lastModified).toISOString()}, which a condition excludes`,
    )
}
