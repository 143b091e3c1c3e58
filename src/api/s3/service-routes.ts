/**
 * The routes of the S3 API that name no bucket.
 */
import { listBuckets } from '../../operations/buckets/list-buckets.ts'
import { timeText } from '../wire.ts'
import { type S3Route, s3Route } from './base/s3-route.ts'
import { ownerElement, wholeNumber, xmlAnswer } from './base/xml-answers.ts'
import { element } from './xml/write-xml.ts'

export const serviceRoutes: readonly S3Route[] = [
  s3Route(
    listBuckets,
    {
      action: 'ListBuckets',
      method: 'GET',
      level: 'service',
      parameters: ['max-buckets', 'prefix', 'continuation-token', 'bucket-region'],
    },
    async (services, principal, { query }) => {
      const region = services.config.security.s3Region
      const prefix = query['prefix'] ?? ''
      const isElsewhere = query['bucket-region'] !== undefined && query['bucket-region'] !== region
      const maxBuckets = wholeNumber(query, 'max-buckets')
      const input = { prefix, maxBuckets, continuationToken: query['continuation-token'] }
      const { buckets, nextContinuationToken } = isElsewhere
        ? { buckets: [], nextContinuationToken: null }
        : await listBuckets(services, principal, input)
      const found = buckets.map(({ bucket: { name, createdAt } }) =>
        element(
          'Bucket',
          element('Name', name),
          element('CreationDate', timeText(createdAt)),
          element('BucketRegion', region),
        ),
      )
      return xmlAnswer(
        element(
          'ListAllMyBucketsResult',
          ownerElement('Owner', principal.tenantId),
          element('Buckets', ...found),
          nextContinuationToken !== null && element('ContinuationToken', nextContinuationToken),
          prefix !== '' && element('Prefix', prefix),
        ),
      )
    },
  ),
]
