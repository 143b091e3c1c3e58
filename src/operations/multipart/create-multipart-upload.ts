/**
 * createMultipartUpload: authorize -> bucket exists -> key is valid -> settings -> commit. What is said here holds for the object once it is whole.
 */
import type { KeyObject } from 'node:crypto'
import { S3_ACTIONS } from '../../access/policies/s3-actions.ts'
import { accessKey } from '../../access/rights.ts'
import { settle } from '../../commands/settle.ts'
import type { ChecksumAlgorithm, ChecksumType } from '../../state-machine/bodies/records.ts'
import type { BucketRecord } from '../../state-machine/buckets/records.ts'
import type { UploadRecord } from '../../state-machine/objects/records.ts'
import type { Representation, VersionSettings } from '../../state-machine/versions/records.ts'
import { dataOperation } from '../base/operation.ts'
import { newVersionTarget } from '../base/targets.ts'
import { authorizeSettings } from '../objects/authorize-settings.ts'
import { findKey, type KeyName } from '../objects/object-checks.ts'
import { findTenant } from '../tenants/find-tenant.ts'
import { checkChecksumType } from './checksum-type.ts'

interface CreateMultipartUploadInput extends KeyName, VersionSettings {
  /** Seals every part instead of the tenant's. */
  readonly customerKey?: KeyObject | undefined
  readonly contentType: string
  readonly metadata: Readonly<Record<string, string>>
  readonly representation?: Representation
  /** Computed of each part, whether or not its sender claims it. */
  readonly checksumAlg: ChecksumAlgorithm | null
  /** How the digest of the object by `checksumAlg` is made. Absent: over all bytes where that can be, otherwise not at all. */
  readonly checksumType?: ChecksumType
}

export interface StartedUpload {
  readonly bucket: BucketRecord
  readonly upload: UploadRecord
}

export const createMultipartUpload = dataOperation(
  {
    id: 'createMultipartUpload',
    requires: accessKey('write', 'key'),
    s3Action: S3_ACTIONS.putObject,
    refuses: ['checksum_unsupported', 'invalid_tag', 'object_lock_not_enabled', 'quota_exceeded'],
    target: newVersionTarget,
  },
  async (services, principal, input: CreateMultipartUploadInput): Promise<StartedUpload> => {
    const { tenantId, accessKeyId: initiator } = principal
    const { bucket, key } = findKey(services, principal, input)
    authorizeSettings(services, principal, input, input)
    const { checksumType } = input
    if (checksumType !== undefined) checkChecksumType(input.checksumAlg, checksumType)
    const tenant = findTenant(services, tenantId)
    const { masterKeyId } = tenant
    const { contentType, metadata, representation, tags, retention, legalHold, checksumAlg } = input
    const { customerKey } = input
    const reply = await services.propose({
      type: 'createUpload',
      tenantId,
      bucket: bucket.name,
      key,
      initiator,
      expiresInMs: services.config.limits.multipartExpiresAfterMs,
      contentType,
      metadata,
      ...(representation === undefined ? {} : { representation }),
      masterKeyId,
      ...(customerKey === undefined
        ? {}
        : { customerSeal: services.content.customerSeal(tenant, customerKey) }),
      tags,
      retention,
      legalHold,
      checksumAlg,
      ...(checksumType === undefined ? {} : { checksumType }),
    })
    return { bucket, upload: settle(reply) }
  },
)
