/**
 * The checks that operations on an upload share: key, then upload, in the caller's tenant.
 */
import type { AccessKeyPrincipal } from '../../access/base/principal.ts'
import { Refusal } from '../../base/refusal.ts'
import type { BucketRecord } from '../../state-machine/buckets/records.ts'
import type { UploadRecord } from '../../state-machine/objects/records.ts'
import type { Services } from '../base/services.ts'
import { findKey, type FoundKey, type KeyName } from '../objects/object-checks.ts'
import { isUploadId } from './upload-id.ts'
import { objectKeys } from '../../state-machine/objects/keys.ts'

export interface UploadName extends KeyName {
  readonly uploadId: string
}

export interface FoundUpload {
  readonly bucket: BucketRecord
  readonly upload: UploadRecord
}

/** Throws Refusal not_found: of the bucket, or of an upload that was completed, aborted, or never started. */
export function findUpload(services: Services, principal: AccessKeyPrincipal, name: UploadName): FoundUpload {
  const found = findKey(services, principal, name)
  const upload = openUpload(services, found, name.uploadId)
  if (upload === null) throw noSuchUpload(name)
  return { bucket: found.bucket, upload }
}

/** Null: no such upload is in progress. */
export function openUpload(
  { state }: Services,
  { bucket, key }: FoundKey,
  uploadId: string,
): UploadRecord | null {
  return (isUploadId(uploadId) ? state.get(objectKeys.upload(bucket.id, key, uploadId)) : undefined) ?? null
}

export function noSuchUpload({ key, uploadId }: Pick<UploadName, 'key' | 'uploadId'>): Refusal {
  return new Refusal(
    'not_found',
    `Upload "${uploadId.slice(0, 64)}" of "${key}" does not exist: it was completed, aborted, or has expired`,
    { missing: 'upload' },
  )
}
