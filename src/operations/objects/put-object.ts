/**
 * putObject: authorize -> bucket exists -> key and size -> bytes durable -> metadata committed.
 *
 * Rule: the order is the design. Everything that needs no body is settled before the first byte is read, and the commit
 * comes after the bytes, so that a crash leaves bytes without a record and never a record without bytes.
 */
import { Condition } from '../../../cluster/index.ts'
import { authorize } from '../../access/authorize.ts'
import type { AccessKeyPrincipal } from '../../access/principal.ts'
import type { IngestedBody } from '../../content/content.ts'
import type { UploadOutcome } from '../../content/uploads.ts'
import { Refusal } from '../../refusal.ts'
import type { PutCommand, Reply } from '../../state-machine/commands.ts'
import type { BucketRecord, ChecksumAlgorithm, ObjectRecord } from '../../state-machine/records.ts'
import { findBucket } from '../buckets/find-bucket.ts'
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
  const { object } = settle(await commit(services, ingested, about, signal))
  return { bucket, object }
}

/** The end of the upload is told whatever happens; what is unknown here stays unknown to the collection of garbage. */
async function commit(
  services: Services,
  ingested: IngestedBody,
  about: Omit<PutCommand, 'type' | 'size' | 'etag' | 'checksums' | 'body'>,
  signal: AbortSignal,
): Promise<Reply<'putObject'>> {
  let outcome: UploadOutcome = 'known'
  try {
    // The client may have gone while the last copies were written: nobody would hear the answer, so nothing is committed.
    signal.throwIfAborted()
    outcome = 'unknown'
    const { size, etag, checksums, body } = ingested
    const reply = await services.propose({ type: 'putObject', ...about, size, etag, checksums, body })
    outcome = 'known'
    return reply
  } catch (error) {
    if (error instanceof Condition && error.code !== 'commit_unknown') outcome = 'known'
    throw error
  } finally {
    ingested.end(outcome)
  }
}
