/**
 * putObject: authorize -> bucket exists -> key and size -> bytes durable -> metadata committed.
 *
 * Rule: the order is the design. Everything that needs no body is settled before the first byte is read, and the commit
 * comes after the bytes, so that a crash leaves bytes without a record and never a record without bytes.
 */
import { authorize } from '../../access/authorize.ts'
import type { AccessKeyPrincipal } from '../../access/principal.ts'
import { Refusal } from '../../refusal.ts'
import type { BucketRecord, ChecksumAlgorithm, ObjectRecord } from '../../state-machine/records.ts'
import { findBucket } from '../buckets/find-bucket.ts'
import { commitBody } from '../commit-body.ts'
import type { Services } from '../services.ts'
import { settle } from '../settle.ts'
import { findTenant } from '../tenants/find-tenant.ts'
import { checkObjectKey } from './object-key.ts'

interface PutObjectInput {
  readonly bucket: string
  readonly key: string
  readonly contentType: string
  readonly metadata: Readonly<Record<string, string>>
  readonly claimed: ReadonlyMap<ChecksumAlgorithm, Uint8Array>
  /** null when the client did not say. */
  readonly expectedSize: number | null
  /** Not touched before every check that needs no body has passed. */
  readonly source: AsyncIterable<Uint8Array>
  readonly signal: AbortSignal
}

export interface StoredObject {
  readonly bucket: BucketRecord
  readonly object: ObjectRecord
}

export async function putObject(
  services: Services,
  principal: AccessKeyPrincipal,
  input: PutObjectInput,
): Promise<StoredObject> {
  const { tenantId } = principal
  authorize(principal, 'putObject', { bucket: input.bucket, key: input.key })
  const bucket = findBucket(services, tenantId, input.bucket)
  const key = checkObjectKey(input.key)
  const sizeMax = services.config.limits.objectPutBytesMax
  if (input.expectedSize !== null && input.expectedSize > sizeMax) {
    throw new Refusal(
      'entity_too_large',
      `Cannot store "${key}": ${input.expectedSize} bytes are more than the ${sizeMax} of one upload`,
    )
  }
  const tenant = findTenant(services, tenantId)
  const { source, expectedSize, claimed, signal } = input
  const ingested = await services.content.ingest({ tenant, source, expectedSize, sizeMax, claimed, signal })
  const { contentType, metadata } = input
  const settings = { tags: {}, retention: null, legalHold: false, idempotency: null }
  const precondition = { ifMatch: null, ifNoneMatch: null }
  const masterKeyId = tenant.masterKeyId
  const about = {
    tenantId,
    bucket: bucket.name,
    key,
    contentType,
    metadata,
    masterKeyId,
    precondition,
    ...settings,
  }
  const reply = await commitBody(
    ingested,
    (stored) => services.propose({ type: 'putObject', ...about, ...stored }),
    signal,
  )
  const { object } = settle(reply)
  return { bucket, object }
}
