/**
 * createMultipartUpload: the ladder -> commit. What is said here holds for the object once it is whole.
 */
import type { AccessKeyPrincipal } from '../../access/base/principal.ts'
import type { ChecksumAlgorithm } from '../../state-machine/bodies/records.ts'
import type { BucketRecord } from '../../state-machine/buckets/records.ts'
import type { UploadRecord } from '../../state-machine/objects/records.ts'
import type { VersionSettings } from '../../state-machine/versions/records.ts'
import { authorizeSettings, keyFor, type KeyName } from '../objects/object-checks.ts'
import type { Services } from '../base/services.ts'
import { settle } from '../../commands/settle.ts'
import { findTenant } from '../tenants/find-tenant.ts'

interface CreateMultipartUploadInput extends KeyName, VersionSettings {
  readonly contentType: string
  readonly metadata: Readonly<Record<string, string>>
  /** Computed of each part, whether or not its sender claims it. */
  readonly checksumAlg: ChecksumAlgorithm | null
}

export interface BegunUpload {
  readonly bucket: BucketRecord
  readonly upload: UploadRecord
}

export async function createMultipartUpload(
  services: Services,
  principal: AccessKeyPrincipal,
  input: CreateMultipartUploadInput,
): Promise<BegunUpload> {
  const { tenantId, accessKeyId: initiator } = principal
  const { bucket, key } = keyFor(services, { principal, operationId: 'createMultipartUpload' }, input)
  authorizeSettings(services, principal, input, input)
  const { masterKeyId } = findTenant(services, tenantId)
  const { contentType, metadata, tags, retention, legalHold, checksumAlg } = input
  const reply = await services.propose({
    type: 'createUpload',
    tenantId,
    bucket: bucket.name,
    key,
    initiator,
    expiresInMs: services.config.limits.multipartExpiresAfterMs,
    contentType,
    metadata,
    masterKeyId,
    tags,
    retention,
    legalHold,
    checksumAlg,
  })
  return { bucket, upload: settle(reply) }
}
