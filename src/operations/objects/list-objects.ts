/**
 * listObjects: authorize (the prefix must lie inside a scope) -> bucket exists -> one page in UTF-8 byte order. [decisions 4, 14]
 */
import { S3_ACTIONS } from '../../access/policies/s3-actions.ts'
import { accessKey } from '../../access/rights.ts'
import { openContinuationToken, sealContinuationToken } from '../base/continuation-token.ts'
import { dataOperation } from '../base/operation.ts'
import { clampPageSize } from '../base/page-size.ts'
import { listingTarget } from '../base/targets.ts'
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
    const { prefix, delimiter } = input
    const limit = clampPageSize(input.maxKeys)
    // The id, not the name: a bucket made again under the same name is another listing.
    const context = ['listObjects', bucket.id, prefix, delimiter]
    const after =
      input.continuationToken === undefined
        ? (input.startAfter ?? '')
        : openContinuationToken(services, context, input.continuationToken)
    const page = await pageOfObjects(services.state, bucket.id, { prefix, delimiter, limit, after })
    return {
      maxKeys: limit,
      objects: page.objects,
      commonPrefixes: page.commonPrefixes,
      nextContinuationToken: page.next === null ? null : sealContinuationToken(services, context, page.next),
      nextStartAfter: page.next,
    }
  },
)
