/**
 * The routes of the S3 API that name no bucket.
 */
import { listBuckets } from '../../operations/buckets/list-buckets.ts'
import type { Answer } from '../route.ts'
import { timeText } from '../wire.ts'
import { S3Fault } from './s3-errors.ts'
import { type S3Route, s3Route } from './s3-route.ts'
import { element, type XmlElement, xmlDocument } from './xml/write-xml.ts'

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
      const found = buckets.map(({ name, createdAt }) =>
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

/** The tenant owns all that is in it. */
export function ownerElement(name: 'Owner' | 'Initiator', tenantId: string): XmlElement {
  return element(name, element('ID', tenantId), element('DisplayName', tenantId))
}

export function xmlAnswer(root: XmlElement, headers: Readonly<Record<string, string>> = {}): Answer {
  return { kind: 'ready', contentType: 'application/xml', bytes: xmlDocument(root), headers }
}

/** Undefined: the query does not have it. Throws S3Fault InvalidArgument. */
export function wholeNumber(query: Readonly<Record<string, string>>, name: string): number | undefined {
  const text = query[name]
  if (text === undefined || text === '') return undefined
  if (/^\d{1,9}$/.test(text)) return Number(text)
  throw new S3Fault(
    'InvalidArgument',
    `The parameter ${name} is "${text.slice(0, 80)}": expected a whole number from 0 to 2147483647`,
  )
}
