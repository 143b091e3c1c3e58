/**
 * listObjects: authorize (the prefix must lie inside a scope) -> bucket exists -> one page in UTF-8 byte order -> metadata, where it
 * was asked for, of the objects that the caller may read. [decisions 4, 14]
 */
import { S3_ACTIONS } from '../../access/policies/s3-actions.ts'
import { accessKey } from '../../access/rights.ts'
import { openContinuationToken, sealContinuationToken } from '../base/continuation-token.ts'
import { dataOperation } from '../base/operation.ts'
import { clampPageSize } from '../base/page-size.ts'
import { listingTarget } from '../base/targets.ts'
import { withReadableMetadata } from './readable-metadata.ts'
import { findBucket } from '../buckets/find-bucket.ts'
import type { ListedObject } from '../../state-machine/versions/listed-version.ts'
import { pageOfObjects } from '../../store/reads/object-listing.ts'

interface ListObjectsInput {
  readonly bucket: string
  readonly prefix: string
  readonly delimiter: string
  readonly maxKeys: number | undefined
  readonly continuationToken: string | undefined
  readonly startAfter: string | undefined
  /** User metadata of each object. */
  readonly withMetadata?: boolean
}

export interface ObjectListing {
  readonly maxKeys: number
  readonly objects: readonly ListedObject[]
  readonly commonPrefixes: readonly string[]
  readonly nextContinuationToken: string | null
  /** The same place as a text for `startAfter`: the key or common prefix shown last. Null: there are no more. */
  readonly nextStartAfter: string | null
}

export const listObjects = dataOperation(
  {
    id: 'listObjects',
    isListing: true,
    requires: accessKey('read', 'key'),
    s3Action: S3_ACTIONS.listBucket,
    refuses: [],
    target: listingTarget,
  },
  async (services, principal, input: ListObjectsInput): Promise<ObjectListing> => {
    const bucket = findBucket(services, principal.tenantId, input.bucket)
    const { prefix, delimiter, withMetadata = false } = input
    const limit = clampPageSize(input.maxKeys)
    // The id, not the name: a bucket made again under the same name is another listing.
    const context = ['listObjects', bucket.id, prefix, delimiter]
    const after =
      input.continuationToken === undefined
        ? (input.startAfter ?? '')
        : openContinuationToken(services, context, input.continuationToken)
    const page = await pageOfObjects(services.state, bucket.id, {
      prefix,
      delimiter,
      limit,
      after,
      withMetadata,
    })
    const { objects } = page
    return {
      maxKeys: limit,
      objects: withMetadata ? await withReadableMetadata(services, principal, { bucket, objects }) : objects,
      commonPrefixes: page.commonPrefixes,
      nextContinuationToken: page.next === null ? null : sealContinuationToken(services, context, page.next),
      nextStartAfter: page.next,
    }
  },
)
