/**
 * listObjects: authorize (the prefix must lie inside a scope) -> bucket exists -> one page in UTF-8 byte order. [decisions 4, 14]
 */
import type { AccessKeyPrincipal } from '../../access/base/principal.ts'
import type { ObjectRecord } from '../../state-machine/versions/records.ts'
import { openContinuationToken, sealContinuationToken } from '../base/continuation-token.ts'
import { clampPageSize } from '../base/page-size.ts'
import type { Services } from '../base/services.ts'
import { bucketFor } from './object-checks.ts'

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
  readonly objects: readonly ObjectRecord[]
  readonly commonPrefixes: readonly string[]
  readonly nextContinuationToken: string | null
}

export async function listObjects(
  services: Services,
  principal: AccessKeyPrincipal,
  input: ListObjectsInput,
): Promise<ObjectListing> {
  const bucket = bucketFor(services, { principal, operationId: 'listObjects' }, input)
  const { prefix, delimiter } = input
  const limit = clampPageSize(input.maxKeys)
  // The id, not the name: a bucket made again under the same name is another listing.
  const context = ['listObjects', bucket.id, prefix, delimiter]
  const after =
    input.continuationToken === undefined
      ? (input.startAfter ?? '')
      : openContinuationToken(services, context, input.continuationToken)
  const page = await services.state.objects(bucket, { prefix, delimiter, limit, after })
  return {
    maxKeys: limit,
    objects: page.objects,
    commonPrefixes: page.commonPrefixes,
    nextContinuationToken: page.next === null ? null : sealContinuationToken(services, context, page.next),
  }
}
