/**
 * listMultipartUploads: the ladder (the prefix must lie inside a scope) -> one page of what is under way,
 * by key, and of a key in the order of their beginnings.
 */
import type { AccessKeyPrincipal } from '../../access/base/principal.ts'
import type { UploadPage } from '../../store/reads/state-reader.ts'
import { bucketFor } from '../objects/object-checks.ts'
import { clampPageSize } from '../base/page-size.ts'
import type { Services } from '../base/services.ts'

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
  const bucket = bucketFor(services, { principal, operationId: 'listMultipartUploads' }, input)
  const limit = clampPageSize(input.maxUploads)
  const page = await services.state.uploads(bucket, { prefix, keyMarker, uploadIdMarker, limit })
  return { ...page, maxUploads: limit }
}
