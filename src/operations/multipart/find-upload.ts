/**
 * The steps of the ladder that every operation on an upload climbs: key, then the upload, in the caller's tenant.
 */
import { Refusal } from '../../base/refusal.ts'
import type { BucketRecord } from '../../state-machine/buckets/records.ts'
import type { UploadRecord } from '../../state-machine/objects/records.ts'
import { type Caller, type FoundKey, keyFor, type KeyName } from '../objects/object-checks.ts'
import type { Services } from '../base/services.ts'
import { isUploadId } from './upload-id.ts'

export interface UploadName extends KeyName {
  readonly uploadId: string
}

export interface FoundUpload {
  readonly bucket: BucketRecord
  readonly upload: UploadRecord
}

/** Throws Refusal not_found: of the bucket, or of an upload that was completed, given up, or never begun. */
export function findUpload(services: Services, caller: Caller, name: UploadName): FoundUpload {
  const found = keyFor(services, caller, name)
  const upload = openUpload(services, found, name.uploadId)
  if (upload === null) throw noSuchUpload(name)
  return { bucket: found.bucket, upload }
}

/** Null: there is none under way. */
export function openUpload(
  { state }: Services,
  { bucket, key }: FoundKey,
  uploadId: string,
): UploadRecord | null {
  return (isUploadId(uploadId) ? state.upload(bucket, key, uploadId) : undefined) ?? null
}

export function noSuchUpload({ key, uploadId }: Pick<UploadName, 'key' | 'uploadId'>): Refusal {
  return new Refusal(
    'not_found',
    `Upload "${uploadId.slice(0, 64)}" of "${key}" does not exist: it was completed, aborted, or has expired`,
  )
}
