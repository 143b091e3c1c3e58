/**
 * copyObject: the order of checks for the target, then for the source -> commit. No byte moves. [native: copy request body]
 *
 * Rules: the caller needs write scope on the target and read scope on the source, both in its own tenant. The commit names
 * the version that was looked at; if that version was removed in between, both are authorized and looked at once more.
 */
import { authorize } from '../../access/authorize.ts'
import type { AccessKeyPrincipal } from '../../access/base/principal.ts'
import { S3_ACTIONS } from '../../access/policies/s3-actions.ts'
import { accessKey } from '../../access/rights.ts'
import { Refusal } from '../../base/refusal.ts'
import { settle } from '../../commands/settle.ts'
import type { BucketRecord } from '../../state-machine/buckets/records.ts'
import type { Command } from '../../state-machine/commands.ts'
import type { WritePrecondition } from '../../state-machine/objects/commands.ts'
import { OBJECT_COPY_BYTES_MAX } from '../../state-machine/objects/limits.ts'
import type { ObjectRecord } from '../../state-machine/versions/records.ts'
import { dataOperation } from '../base/operation.ts'
import type { Services } from '../base/services.ts'
import { keyTarget, versionTarget } from '../base/targets.ts'
import { findTenant } from '../tenants/find-tenant.ts'
import { authorizeSettings } from './authorize-settings.ts'
import { failedCondition, type ReadConditions } from './conditions.ts'
import { getObject } from './get-object.ts'
import {
  findKey,
  findObject,
  type FoundKey,
  type FoundObject,
  type KeyName,
  type ObjectName,
  refuseEarly,
} from './object-checks.ts'
import { getObjectTags } from './object-lookups.ts'
import { NEW_VERSION_REFUSALS, READ_REFUSALS } from './refusals.ts'
import { versionKeys } from '../../state-machine/versions/keys.ts'

interface CopyObjectInput extends KeyName {
  readonly source: ObjectName
  /** On the source. */
  readonly conditions: ReadConditions
  /** Null: those of the source. */
  readonly replacement: Pick<ObjectRecord, 'contentType' | 'metadata' | 'representation'> | null
  /** On the target. */
  readonly precondition: WritePrecondition
}

const LOOKS_MAX = 2

export const copyObject = dataOperation(
  {
    id: 'copyObject',
    // Of the target; the source is authorized as getObject.
    requires: accessKey('write', 'key'),
    s3Action: S3_ACTIONS.putObject,
    refuses: [...NEW_VERSION_REFUSALS, ...READ_REFUSALS, 'entity_too_large'],
    target: keyTarget,
  },
  async (services, principal, input: CopyObjectInput): Promise<FoundObject> => {
    for (let look = 1; ; look++) {
      const { bucket, command } = planCopy(services, principal, input)
      const reply = await services.propose(command)
      if (reply.ok || reply.code !== 'not_found' || look === LOOKS_MAX)
        return { bucket, object: settle(reply) }
      await services.cluster.readBarrier()
      // A policy may deny the target since the first look.
      authorize(principal, copyObject, keyTarget(input), services.state)
    }
  },
)

interface CopyPlan {
  readonly bucket: BucketRecord
  readonly command: Extract<Command, { type: 'copyObject' }>
}

function planCopy(services: Services, principal: AccessKeyPrincipal, input: CopyObjectInput): CopyPlan {
  const target = findKey(services, principal, input)
  const source = sourceFor(services, principal, input.source)
  refuseCopy(services, input, { target, source })
  authorizeTags(services, principal, input, source)
  const { bucket, key } = target
  const { contentType, metadata, representation } = input.replacement ?? source.object
  const { masterKeyId } = findTenant(services, principal.tenantId)
  const requested = {
    tenantId: principal.tenantId,
    bucket: bucket.name,
    key,
    contentType,
    metadata,
    ...(representation === undefined ? {} : { representation }),
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

/** Tags are copied too: read at the source and written at the target, each as by its own operation. */
function authorizeTags(
  services: Services,
  principal: AccessKeyPrincipal,
  { bucket, key, source }: CopyObjectInput,
  { object: { tags } }: FoundObject,
): void {
  if (Object.keys(tags).length === 0) return
  authorize(principal, getObjectTags, versionTarget(source), services.state)
  authorizeSettings(services, principal, { bucket, key }, { tags, retention: null, legalHold: false })
}

/** Authorized as a read. A delete marker has nothing to copy; `method_not_allowed` would name a method of another path. */
function sourceFor(services: Services, principal: AccessKeyPrincipal, name: ObjectName): FoundObject {
  authorize(principal, getObject, versionTarget(name), services.state)
  try {
    return findObject(services, principal, name)
  } catch (error) {
    if (!(error instanceof Refusal) || error.code !== 'method_not_allowed') throw error
    throw new Refusal('invalid_request', `Cannot copy "${name.key}": its version is a delete marker`, {
      cause: error,
    })
  }
}

/** Throws Refusal for what follows from source and request only. */
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
  const current = services.state.get(versionKeys.object(target.bucket.id, target.key))
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
