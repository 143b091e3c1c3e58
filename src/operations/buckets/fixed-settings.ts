/**
 * Settings that S3 has for each bucket, and that are the same for all buckets here: where it lies, that it is encrypted, private and owned by its tenant.
 *
 * Each is read, or confirmed as it is, after: authorize -> exists. Knows nothing of: how S3 writes them, or which requests confirm them; the
 * routes of the S3 API refuse all others by their names.
 */
import { S3_ACTIONS, type S3Action } from '../../access/policies/s3-actions.ts'
import { accessKey } from '../../access/rights.ts'
import type { BucketRecord } from '../../state-machine/buckets/records.ts'
import { dataOperation } from '../base/operation.ts'
import { bucketTarget } from '../base/targets.ts'
import { findBucket } from './find-bucket.ts'

interface BucketName {
  readonly bucket: string
}

function readSetting(id: string, s3Action: S3Action) {
  return dataOperation(
    { id, requires: accessKey('read', 'bucket'), s3Action, refuses: [], target: bucketTarget },
    async (services, principal, input: BucketName): Promise<BucketRecord> =>
      findBucket(services, principal.tenantId, input.bucket),
  )
}

function confirmSetting(id: string, s3Action: S3Action) {
  return dataOperation(
    { id, requires: accessKey('write', 'whole-bucket'), s3Action, refuses: [], target: bucketTarget },
    async (services, principal, input: BucketName): Promise<BucketRecord> =>
      findBucket(services, principal.tenantId, input.bucket),
  )
}

export const getBucketLocation = readSetting('getBucketLocation', S3_ACTIONS.getBucketLocation)
export const getBucketEncryption = readSetting('getBucketEncryption', S3_ACTIONS.getEncryption)
export const confirmBucketEncryption = confirmSetting('confirmBucketEncryption', S3_ACTIONS.putEncryption)
export const getPublicAccessBlock = readSetting('getPublicAccessBlock', S3_ACTIONS.getPublicAccessBlock)
export const confirmPublicAccessBlock = confirmSetting(
  'confirmPublicAccessBlock',
  S3_ACTIONS.putPublicAccessBlock,
)
export const getBucketOwnership = readSetting('getBucketOwnership', S3_ACTIONS.getOwnershipControls)
export const confirmBucketOwnership = confirmSetting(
  'confirmBucketOwnership',
  S3_ACTIONS.putOwnershipControls,
)
export const getBucketAcl = readSetting('getBucketAcl', S3_ACTIONS.getBucketAcl)
export const confirmBucketAcl = confirmSetting('confirmBucketAcl', S3_ACTIONS.putBucketAcl)
export const getBucketPayer = readSetting('getBucketPayer', S3_ACTIONS.getBucketRequestPayment)
