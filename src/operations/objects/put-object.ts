/**
 * putObject: authorize -> bucket exists -> key is valid -> settings -> size, tenant, state of this node -> bytes durable -> metadata committed.
 *
 * Rules: the order is the design. Everything that needs no body is settled before the first byte is read, and the commit
 * comes after the bytes, so that a crash leaves bytes without a record and never a record without bytes.
 */
import type { KeyObject } from 'node:crypto'
import { S3_ACTIONS } from '../../access/policies/s3-actions.ts'
import { accessKey } from '../../access/rights.ts'
import { Refusal } from '../../base/refusal.ts'
import { requireLevel } from '../../commands/level-gate.ts'
import { settle } from '../../commands/settle.ts'
import type { Claims, TrailingClaims } from '../../content/checksums.ts'
import type { BodySource, EtagForm, IngestRequest } from '../../content/content.ts'
import type { UploadCaller } from '../../content/memory-shares.ts'
import type { ChecksumAlgorithm } from '../../state-machine/bodies/records.ts'
import type { BucketRecord } from '../../state-machine/buckets/records.ts'
import type { NewVersion } from '../../state-machine/objects/commands.ts'
import { objectKeys } from '../../state-machine/objects/keys.ts'
import type { TenantRecord } from '../../state-machine/tenants/records.ts'
import type { ObjectRecord } from '../../state-machine/versions/records.ts'
import { commitBody } from '../base/commit-body.ts'
import { dataOperation } from '../base/operation.ts'
import type { Services } from '../base/services.ts'
import { newVersionTarget } from '../base/targets.ts'
import { uploadCallerOf } from '../base/upload-caller.ts'
import { findTenant } from '../tenants/find-tenant.ts'
import { authorizeSettings } from './authorize-settings.ts'
import { fingerprintOf } from './fingerprint.ts'
import { earlyRefusal, findKey, type KeyName } from './object-checks.ts'
import { NEW_VERSION_REFUSALS } from './refusals.ts'

/** From this feature level on, members know of bodies that are sealed with a key of their client. */
const CUSTOMER_KEYS_LEVEL = 7

type Described = 'contentType' | 'metadata' | 'representation'

export interface PutObjectInput
  extends KeyName,
    Pick<NewVersion, Described | 'tags' | 'retention' | 'legalHold' | 'precondition'> {
  readonly idempotencyKey: string | null
  /** Seals the object instead of the tenant's. */
  readonly customerKey?: KeyObject | undefined
  readonly claimed: Claims
  readonly trailing?: TrailingClaims | undefined
  /** Computed too, although the client does not claim them. */
  readonly wanted?: readonly ChecksumAlgorithm[]
  /** Absent: `content`. */
  readonly etag?: EtagForm
  /** null when the client did not say. */
  readonly expectedSize: number | null
  /** Where the caller allows less than the setting does. */
  readonly sizeMax?: number
  /** Not touched before every check that needs no body has passed. */
  readonly source: BodySource
  readonly signal: AbortSignal
}

export interface StoredObject {
  readonly bucket: BucketRecord
  readonly object: ObjectRecord
  /** It was stored by an earlier request with the same idempotency key. */
  readonly replayed: boolean
}

export const putObject = dataOperation(
  {
    id: 'putObject',
    requires: accessKey('write', 'key'),
    s3Action: S3_ACTIONS.putObject,
    coveredByUrl: { method: 'PUT', isRequired: false },
    isDecidedByEntry: true,
    refuses: [
      ...NEW_VERSION_REFUSALS,
      'checksum_required',
      'idempotency_conflict',
      'idempotency_in_progress',
    ],
    target: newVersionTarget,
  },
  async (services, principal, input: PutObjectInput): Promise<StoredObject> => {
    const { bucket, key } = findKey(services, principal, input)
    authorizeSettings(services, principal, input, input)
    checkUpload(services, input)
    const tenant = findTenant(services, principal.tenantId)
    const { idempotencyKey } = input
    const caller = uploadCallerOf(principal)
    const write = () => store(services, { tenant, caller, bucket, input })
    if (idempotencyKey === null) return write()
    return services.writesInProgress.alone([bucket.id, key, idempotencyKey], write)
  },
)

/** Throws Refusal for faults that no body could correct. */
function checkUpload(
  services: Services,
  { key, idempotencyKey, claimed, trailing, wanted = [], expectedSize, sizeMax }: PutObjectInput,
): void {
  const claims = claimed.size + wanted.length + (trailing?.algorithms.length ?? 0)
  if (idempotencyKey !== null && claims === 0)
    throw new Refusal(
      'checksum_required',
      'An upload with Idempotency-Key needs a checksum of its body: send X-Service-Checksum-SHA256 or another one',
    )
  const allowed = sizeMaxOf(services, sizeMax)
  if (expectedSize !== null && expectedSize > allowed)
    throw new Refusal(
      'entity_too_large',
      `Cannot store "${key}": ${expectedSize} bytes are more than the ${allowed} of one upload`,
    )
}

function sizeMaxOf({ config }: Services, sizeMax: number = Infinity): number {
  return Math.min(sizeMax, config.limits.objectPutBytesMax)
}

interface Upload {
  readonly tenant: TenantRecord
  readonly caller: UploadCaller
  readonly bucket: BucketRecord
  readonly input: PutObjectInput
}

async function store(services: Services, { tenant, caller, bucket, input }: Upload): Promise<StoredObject> {
  const { key, contentType, metadata, tags, retention, legalHold, precondition, idempotencyKey } = input
  const settings = { tags, retention, legalHold }
  const said = input.representation === undefined ? {} : { representation: input.representation }
  const name = { tenantId: tenant.id, bucket: bucket.name, key }
  const customer = customerOf(services, { tenant, bucket, input })
  const requested = {
    ...name,
    ...(customer === undefined ? {} : { customerSeal: customer.seal }),
    contentType,
    metadata,
    ...said,
    masterKeyId: tenant.masterKeyId,
    precondition,
    ...settings,
  }
  // In this order: what an earlier request has stored is never seen without its answer, which is given again regardless of the present state.
  const refusal = earlyRefusal(services, bucket, requested, input.expectedSize ?? 0)
  if (refusal !== null && !isAnswered(services, bucket, input)) throw refusal
  // Otherwise the commit would be refused once all bytes are stored.
  if (customer !== undefined) await requireLevel(services.cluster, CUSTOMER_KEYS_LEVEL)
  const { source, expectedSize, claimed, trailing, wanted = [], etag, signal } = input
  const sizeMax = sizeMaxOf(services, input.sizeMax)
  const about = { source, expectedSize, sizeMax, claimed, trailing, wanted, etag, signal }
  const ingested = await services.content.ingest({ tenant, caller, customer, ...about })
  const fingerprint = fingerprintOf({ ...ingested, contentType, metadata, ...said })
  const idempotency = idempotencyKey === null ? null : { key: idempotencyKey, fingerprint }
  const reply = await commitBody(
    ingested,
    (stored) => services.propose({ type: 'putObject', ...requested, idempotency, ...stored }),
    signal,
  )
  return { bucket, ...settle(reply) }
}

/** An upload that is repeated with its idempotency key makes the same chunks, by which it is recognized. */
function customerOf(
  { content }: Services,
  { tenant, bucket, input: { key, idempotencyKey, customerKey } }: Omit<Upload, 'caller'>,
): IngestRequest['customer'] {
  if (customerKey === undefined) return undefined
  const again = idempotencyKey === null ? undefined : JSON.stringify([bucket.id, key, idempotencyKey])
  return { key: customerKey, seal: content.customerSeal(tenant, customerKey, again) }
}

/** Whether the key has an answer; whether it is that of this upload is known once the bytes are. */
function isAnswered(
  { state }: Services,
  { id }: BucketRecord,
  { key, idempotencyKey }: PutObjectInput,
): boolean {
  return idempotencyKey !== null && state.get(objectKeys.idempotency(id, key, idempotencyKey)) !== undefined
}
