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
  /** Empty: nothing is folded. */
  readonly delimiter: string
  /** Empty: from the beginning. */
  readonly keyMarker: string
  /** Without it, no upload of `keyMarker` itself is shown; without `keyMarker` it means nothing. */
  readonly uploadIdMarker: string
  readonly maxUploads: number | undefined
}

export interface UploadListing extends UploadPage {
  readonly maxUploads: number
}

export const listMultipartUploads = dataOperation(
  {
    id: 'listMultipartUploads',
    isListing: true,
    requires: accessKey('read', 'key'),
    s3Action: S3_ACTIONS.listBucketMultipartUploads,
    refuses: [],
    target: listingTarget,
  },
  async (services, principal, input: ListMultipartUploadsInput): Promise<UploadListing> => {
    const { prefix, delimiter, keyMarker, uploadIdMarker } = input
    const bucket = findBucket(services, principal.tenantId, input.bucket)
    const limit = clampPageSize(input.maxUploads)
    const query = { prefix, delimiter, keyMarker, uploadIdMarker, limit }
    const page = await pageOfUploads(services.state, bucket.id, query)
    return { ...page, maxUploads: limit }
  },
)
