/**
 * The first half of every operation on an upload: bucket, key, then the upload, in the caller's tenant.
 */
import type { AccessKeyPrincipal } from '../../access/principal.ts'
import { Refusal } from '../../refusal.ts'
import type { BucketRecord, UploadRecord } from '../../state-machine/records.ts'
import { findBucket } from '../buckets/find-bucket.ts'
import { checkObjectKey } from '../objects/object-key.ts'
import type { Services } from '../services.ts'
import { isUploadId } from './upload-id.ts'

export interface UploadName {
  readonly bucket: string
  readonly key: string
  readonly uploadId: string
}

export interface FoundUpload {
  readonly bucket: BucketRecord
  readonly upload: UploadRecord
}

/** Throws Refusal not_found: of the bucket, or of an upload that was completed, given up, or never begun. */
export function findUpload(
  services: Services,
  principal: AccessKeyPrincipal,
  input: UploadName,
): FoundUpload {
  const bucket = findBucket(services, principal.tenantId, input.bucket)
  const upload = openUpload(services, bucket, input)
  if (upload === null) throw noSuchUpload(input)
  return { bucket, upload }
}

/** Null: there is none under way. Throws Refusal invalid_key. */
export function openUpload(
  services: Services,
  bucket: BucketRecord,
  { key, uploadId }: UploadName,
): UploadRecord | null {
  checkObjectKey(key)
  return (isUploadId(uploadId) ? services.state.upload(bucket, key, uploadId) : undefined) ?? null
}

export function noSuchUpload({ key, uploadId }: UploadName): Refusal {
  return new Refusal(
    'not_found',
    `Upload "${uploadId.slice(0, 64)}" of "${key}" does not exist: it was completed, aborted, or has expired`,
  )
}
