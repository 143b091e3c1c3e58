/**
 * copyObject: the order of checks for the target, then for the source -> commit. No byte moves; the bytes are read where the caller wants a
 * digest of them that the source does not have, and stored again where a client has the key of source or target. [native: copy request body]
 *
 * Rules: the caller needs write scope on the target and read scope on the source, both in its own tenant. The commit names
 * the version that was looked at; if that version was removed in between, both are authorized and looked at once more.
 */
import type { KeyObject } from 'node:crypto'
import { authorize } from '../../access/authorize.ts'
import type { AccessKeyPrincipal } from '../../access/base/principal.ts'
import { S3_ACTIONS } from '../../access/policies/s3-actions.ts'
import { accessKey } from '../../access/rights.ts'
import { Refusal } from '../../base/refusal.ts'
import { requireLevel } from '../../commands/level-gate.ts'
import { settle } from '../../commands/settle.ts'
import type { EtagForm } from '../../content/content.ts'
import { BodyGoneError } from '../../content/read-content.ts'
import type { Checksums } from '../../state-machine/bodies/records.ts'
import type { BucketRecord } from '../../state-machine/buckets/records.ts'
import type { Command } from '../../state-machine/commands.ts'
import type { WritePrecondition } from '../../state-machine/objects/commands.ts'
import { OBJECT_COPY_BYTES_MAX } from '../../state-machine/objects/limits.ts'
import type {
  ObjectRecord,
  RetentionRecord,
  Tags,
  VersionRecord,
  VersionSettings,
} from '../../state-machine/versions/records.ts'
import { pinRows, type PinnedRows } from '../../store/reads/pinned-rows.ts'
import { commitBody } from '../base/commit-body.ts'
import { dataOperation } from '../base/operation.ts'
import type { Services } from '../base/services.ts'
import { newVersionTarget, versionTarget } from '../base/targets.ts'
import { findTenant } from '../tenants/find-tenant.ts'
import { authorizeSettings } from './authorize-settings.ts'
import type { ReadConditions } from './conditions.ts'
import { checkSource, findSource } from './copy-source.ts'
import {
  findKey,
  type FoundKey,
  type FoundObject,
  type KeyedObjectName,
  type KeyName,
  refuseEarly,
} from './object-checks.ts'
import { getObjectTags } from './object-lookups.ts'
import { NEW_VERSION_REFUSALS, READ_REFUSALS } from './refusals.ts'
import { type CopyReading, resealedCopy } from './reseal-copy.ts'
import { digestOfSource, type PinnedSource, type WantedDigest } from './source-digest.ts'
import { versionKeys } from '../../state-machine/versions/keys.ts'

interface CopyObjectInput extends KeyName {
  readonly source: KeyedObjectName
  /** Seals the copy instead of the tenant's. */
  readonly customerKey?: KeyObject | undefined
  /** How its bytes are read, if they have to be. */
  readonly reading: CopyReading
  /** Of a copy whose bytes are stored again. Absent: `content`. */
  readonly etag?: EtagForm
  /** On the source. */
  readonly conditions: ReadConditions
  /** Null: those of the source. */
  readonly replacement: Pick<ObjectRecord, 'contentType' | 'metadata' | 'representation'> | null
  /** Null: those of the source. */
  readonly tags: Tags | null
  /** Of the copy: the locks of the source are not copied. [S3 CopyObject] */
  readonly retention: RetentionRecord | null
  readonly legalHold: boolean
  /** Absent: the checksums of the source. */
  readonly digest?: WantedDigest
  /** On the target. */
  readonly precondition: WritePrecondition
}

export interface CopiedObject extends FoundObject {
  readonly source: FoundObject
}

const LOOKS_MAX = 2
/** From this feature level on, the command may bring the bytes of the copy. */
const RESEALS_LEVEL = 7

export const copyObject = dataOperation(
  {
    id: 'copyObject',
    // Of the target; the source is authorized as getObject.
    requires: accessKey('write', 'key'),
    s3Action: S3_ACTIONS.putObject,
    refuses: [...NEW_VERSION_REFUSALS, ...READ_REFUSALS, 'entity_too_large'],
    target: newVersionTarget,
  },
  async (services, principal, input: CopyObjectInput): Promise<CopiedObject> => {
    for (let look = 1; ; look++) {
      const copied = await copyOnce(services, principal, input)
      if (!isGone(copied)) return copied
      if (look === LOOKS_MAX) throw copied
      await services.cluster.readBarrier()
      // A policy may deny the target since the first look.
      authorize(principal, copyObject, newVersionTarget(input), services.state)
    }
  },
)

/** Or why there is nothing to copy any more: the source was removed since it was found. */
async function copyOnce(
  services: Services,
  principal: AccessKeyPrincipal,
  input: CopyObjectInput,
): Promise<CopiedObject | Gone> {
  const { bucket, source, command } = planCopy(services, principal, input)
  try {
    if (isResealed(input, source))
      return { bucket, object: await reseal(services, principal, input, { source, command }), source }
    const digested = await withDigest(services, principal, { source, digest: input.digest })
    return { bucket, object: settle(await services.propose({ ...command, ...digested })), source }
  } catch (error) {
    if (error instanceof BodyGoneError || (error instanceof Refusal && error.code === 'not_found'))
      return error
    throw error
  }
}

type Gone = BodyGoneError | Refusal

/** Whether the bytes of the source are read. */
function isRead({ digest, customerKey }: CopyObjectInput, version: VersionRecord): version is ObjectRecord {
  if (version.kind !== 'object') return false
  return digest !== undefined || customerKey !== undefined || version.customerSeal !== undefined
}

/** The chunks of a client's key are those of one object. */
function isResealed({ customerKey }: CopyObjectInput, { object }: FoundObject): boolean {
  return customerKey !== undefined || object.customerSeal !== undefined
}

async function reseal(
  services: Services,
  principal: AccessKeyPrincipal,
  {
    customerKey: key,
    source: { customerKey: sourceKey },
    reading,
    etag = 'content',
    digest,
  }: CopyObjectInput,
  { source, command }: Pick<CopyPlan, 'source' | 'command'>,
): Promise<ObjectRecord> {
  const tenant = findTenant(services, principal.tenantId)
  const customer = key === undefined ? undefined : { key, seal: services.content.customerSeal(tenant, key) }
  // Otherwise the commit would be refused once all bytes are stored.
  await requireLevel(services.cluster, RESEALS_LEVEL)
  const resealing = { tenant, source, sourceKey, customer, etag, digest }
  const ingested = await resealedCopy(services, principal, resealing, reading)
  const sealed = customer === undefined ? {} : { customerSeal: customer.seal }
  const reply = await commitBody(
    ingested,
    (stored) => services.propose({ ...command, ...sealed, stored }),
    reading.signal,
  )
  return settle(reply)
}

const isGone = (copied: CopiedObject | Gone): copied is Gone => copied instanceof Error

async function withDigest(
  services: Services,
  { tenantId }: AccessKeyPrincipal,
  { source, digest }: { readonly source: PinnedSource; readonly digest: WantedDigest | undefined },
): Promise<{ readonly checksums?: Checksums }> {
  if (digest === undefined) return {}
  const tenant = findTenant(services, tenantId)
  return { checksums: await digestOfSource(services, { tenant, source }, digest) }
}

interface CopyPlan {
  readonly bucket: BucketRecord
  readonly source: PinnedSource
  readonly command: Extract<Command, { type: 'copyObject' }>
}

function planCopy(services: Services, principal: AccessKeyPrincipal, input: CopyObjectInput): CopyPlan {
  const target = findKey(services, principal, input)
  let pinned: PinnedRows = {}
  const found = findSource(services, principal, input.source, (view, { id }, version) => {
    if (isRead(input, version)) pinned = pinRows(view, id, version)
  })
  const source = { ...found, pinned }
  const tenant = findTenant(services, principal.tenantId)
  services.content.checkCustomerKey(tenant, input.source.customerKey, source.object)
  refuseCopy(services, input, { target, source })
  const settings = authorizedSettings(services, principal, input, source)
  const { bucket, key } = target
  const { contentType, metadata, representation } = input.replacement ?? source.object
  const { masterKeyId } = tenant
  const requested = {
    tenantId: principal.tenantId,
    bucket: bucket.name,
    key,
    contentType,
    metadata,
    ...(representation === undefined ? {} : { representation }),
    masterKeyId,
    precondition: input.precondition,
    ...settings,
  }
  refuseEarly(services, bucket, requested, source.object.size)
  const { versionId } = source.object
  const from = { bucket: source.bucket.name, key: source.object.key, versionId }
  return { bucket, source, command: { type: 'copyObject', ...requested, source: from } }
}

/** What the copy has of tags and locks. Tags that are copied are read at the source and written at the target, each as by its own operation. */
function authorizedSettings(
  services: Services,
  principal: AccessKeyPrincipal,
  { bucket, key, source, tags, retention, legalHold }: CopyObjectInput,
  { object }: FoundObject,
): VersionSettings {
  const settings = { tags: tags ?? object.tags, retention, legalHold }
  if (tags === null && Object.keys(object.tags).length > 0)
    authorize(principal, getObjectTags, versionTarget(source), services.state)
  authorizeSettings(services, principal, { bucket, key }, settings)
  return settings
}

/** Throws Refusal for what follows from source and request only. */
function refuseCopy(
  services: Services,
  input: CopyObjectInput,
  { target, source }: { readonly target: FoundKey; readonly source: FoundObject },
): void {
  const { key, size, versionId } = source.object
  if (size > OBJECT_COPY_BYTES_MAX)
    throw new Refusal(
      'entity_too_large',
      `Cannot copy "${key}": ${size} bytes are more than the ${OBJECT_COPY_BYTES_MAX} of one copy; copy it in parts`,
    )
  const current = services.state.get(versionKeys.object(target.bucket.id, target.key))
  const isItself = target.bucket.id === source.bucket.id && current?.versionId === versionId
  if (isItself && changesNothing(input))
    throw new Refusal(
      'invalid_request',
      `Cannot copy "${key}" to itself: nothing would change; give "metadataDirective":"REPLACE" to change its metadata`,
    )
  checkSource(input.conditions, source)
}

function changesNothing({
  replacement,
  tags,
  retention,
  legalHold,
  digest,
  customerKey,
  source,
}: CopyObjectInput): boolean {
  const isSaid =
    replacement !== null || tags !== null || retention !== null || legalHold || digest !== undefined
  return !isSaid && customerKey === undefined && source.customerKey === undefined
}
