/**
 * listObjectVersions: authorize (the prefix must lie inside a scope) -> bucket exists -> one page of versions and delete
 * markers, keys in UTF-8 byte order, of a key the newest first. [decisions 4, 14]
 */
import { S3_ACTIONS } from '../../access/policies/s3-actions.ts'
import { accessKey } from '../../access/rights.ts'
import { Refusal } from '../../base/refusal.ts'
import type { VersionPage } from '../../store/reads/version-listing.ts'
import { dataOperation } from '../base/operation.ts'
import { clampPageSize } from '../base/page-size.ts'
import { listingTarget } from '../base/targets.ts'
import { findBucket } from '../buckets/find-bucket.ts'
import { pageOfVersions } from '../../store/reads/version-listing.ts'

interface ListObjectVersionsInput {
  readonly bucket: string
  readonly prefix: string
  readonly delimiter: string
  readonly maxKeys: number | undefined
  readonly keyMarker: string | undefined
  readonly versionIdMarker: string | undefined
}

export interface VersionListing extends VersionPage {
  readonly maxKeys: number
}

export const listObjectVersions = dataOperation(
  {
    id: 'listObjectVersions',
    isListing: true,
    requires: accessKey('read', 'key'),
    s3Action: S3_ACTIONS.listBucketVersions,
    refuses: [],
    target: listingTarget,
  },
  async (services, principal, input: ListObjectVersionsInput): Promise<VersionListing> => {
    const bucket = findBucket(services, principal.tenantId, input.bucket)
    const { prefix, delimiter, keyMarker = '', versionIdMarker = '' } = input
    if (versionIdMarker !== '' && keyMarker === '')
      throw new Refusal(
        'invalid_argument',
        '"versionIdMarker" says where in a key to continue: give "keyMarker" too',
      )
    const limit = clampPageSize(input.maxKeys)
    const page = await pageOfVersions(services.state, bucket.id, {
      prefix,
      delimiter,
      keyMarker,
      versionIdMarker,
      limit,
    })
    return { ...page, maxKeys: limit }
  },
)
