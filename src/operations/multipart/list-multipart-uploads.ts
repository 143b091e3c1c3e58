/**
 * listMultipartUploads: authorize (the prefix must lie inside a scope) -> bucket exists -> one page of the uploads in progress, by key,
 * and of one key in the order in which they started.
 */
import { S3_ACTIONS } from '../../access/policies/s3-actions.ts'
import { accessKey } from '../../access/rights.ts'
import type { UploadPage } from '../../store/reads/upload-listing.ts'
import { dataOperation } from '../base/operation.ts'
import { clampPageSize } from '../base/page-size.ts'
import { listingTarget } from '../base/targets.ts'
import { findBucket } from '../buckets/find-bucket.ts'
import { pageOfUploads } from '../../store/reads/upload-listing.ts'

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

export const listMultipartUploads = dataOperation(
  {
    id: 'listMultipartUploads',
    requires: accessKey('read', 'key'),
    s3Action: S3_ACTIONS.listBucketMultipartUploads,
    refuses: [],
    target: listingTarget,
  },
  async (services, principal, input: ListMultipartUploadsInput): Promise<UploadListing> => {
    const { prefix, keyMarker, uploadIdMarker } = input
    const bucket = findBucket(services, principal.tenantId, input.bucket)
    const limit = clampPageSize(input.maxUploads)
    const page = await pageOfUploads(services.state, bucket.id, { prefix, keyMarker, uploadIdMarker, limit })
    return { ...page, maxUploads: limit }
  },
)
