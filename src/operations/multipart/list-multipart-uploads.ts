/**
 * listMultipartUploads: authorize (the prefix must lie inside a scope) -> bucket exists -> one page of what is under way,
 * by key, and of a key in the order of their beginnings.
 */
import { authorize } from '../../access/authorize.ts'
import type { AccessKeyPrincipal } from '../../access/principal.ts'
import type { UploadPage } from '../../store/state-reader.ts'
import { findBucket } from '../buckets/find-bucket.ts'
import { clampPageSize } from '../page-size.ts'
import type { Services } from '../services.ts'

interface ListMultipartUploadsInput {
  readonly bucket: string
  readonly prefix: string
  readonly keyMarker: string
  /** Without it, no upload of `keyMarker` itself is shown. */
  readonly uploadIdMarker: string
  readonly maxUploads: number | undefined
}

export interface UploadListing extends UploadPage {
  readonly maxUploads: number
}

export async function listMultipartUploads(
  services: Services,
  principal: AccessKeyPrincipal,
  input: ListMultipartUploadsInput,
): Promise<UploadListing> {
  const { prefix, keyMarker, uploadIdMarker } = input
  authorize(principal, 'listMultipartUploads', { bucket: input.bucket, key: prefix })
  const bucket = findBucket(services, principal.tenantId, input.bucket)
  const limit = clampPageSize(input.maxUploads)
  const page = await services.state.uploads(bucket, { prefix, keyMarker, uploadIdMarker, limit })
  return { ...page, maxUploads: limit }
}
