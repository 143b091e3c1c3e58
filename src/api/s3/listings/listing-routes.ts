/**
 * The listings of a bucket: objects in both versions of the call, and versions. [AWS S3 API reference: ListObjects, ListObjectsV2,
 * ListObjectVersions]
 */
import { listObjectVersions } from '../../../operations/objects/list-object-versions.ts'
import { listObjects, type ObjectListing } from '../../../operations/objects/list-objects.ts'
import { type Count, type Encoding, readCount, readEncoding } from './listing-query.ts'
import { contentsElements, prefixElements, versionElements } from './listing-view.ts'
import { type S3Call, type S3Route, s3Route } from '../base/s3-route.ts'
import { ownerElement, xmlAnswer } from '../base/xml-answers.ts'
import { element, type XmlElement } from '../xml/write-xml.ts'

const PARAMETERS = ['prefix', 'delimiter', 'max-keys', 'encoding-type'] as const

export const listingRoutes: readonly S3Route[] = [
  s3Route(
    listObjects,
    { action: 'ListObjects', method: 'GET', level: 'bucket', parameters: [...PARAMETERS, 'marker'] },
    async (services, principal, call) => {
      const asked = readAsked(call)
      const { count, encoding, ...query } = asked
      const marker = call.query['marker'] ?? ''
      const from = { maxKeys: count.limit, continuationToken: undefined, startAfter: marker }
      const page = shown(count, await listObjects(services, principal, { ...query, ...from }))
      const { text } = encoding
      const next = page.nextStartAfter
      const owner = ownerElement('Owner', principal.tenantId)
      return xmlAnswer(
        element(
          'ListBucketResult',
          // In this version of the call the prefix stands as it was asked for: clients do not decode it.
          element('Name', asked.bucket),
          element('Prefix', asked.prefix),
          element('Marker', text(marker)),
          // Without a delimiter the last key is where the next page begins. [S3 ListObjects: NextMarker]
          next !== null && query.delimiter !== '' && element('NextMarker', text(next)),
          ...end(asked, next !== null),
          contentsElements(page.objects, encoding, owner),
          prefixElements(page.commonPrefixes, encoding),
        ),
      )
    },
  ),

  s3Route(
    listObjects,
    {
      action: 'ListObjectsV2',
      method: 'GET',
      level: 'bucket',
      marks: ['list-type'],
      markValue: { name: 'list-type', value: '2' },
      parameters: [...PARAMETERS, 'continuation-token', 'start-after', 'fetch-owner'],
    },
    async (services, principal, call) => {
      const asked = readAsked(call)
      const { count, encoding, ...query } = asked
      const { 'continuation-token': token, 'start-after': startAfter = '', 'fetch-owner': owned } = call.query
      // Some clients send an empty one with their first request.
      const from = { continuationToken: token === '' ? undefined : token, startAfter }
      const listing = await listObjects(services, principal, { ...query, ...from, maxKeys: count.limit })
      const page = shown(count, listing)
      const next = page.nextContinuationToken
      const owner = owned?.toLowerCase() === 'true' ? ownerElement('Owner', principal.tenantId) : null
      return xmlAnswer(
        element(
          'ListBucketResult',
          ...beginning(asked),
          startAfter !== '' && element('StartAfter', encoding.text(startAfter)),
          token !== undefined && element('ContinuationToken', token),
          next !== null && element('NextContinuationToken', next),
          element('KeyCount', page.objects.length + page.commonPrefixes.length),
          ...end(asked, next !== null),
          contentsElements(page.objects, encoding, owner),
          prefixElements(page.commonPrefixes, encoding),
        ),
      )
    },
  ),

  s3Route(
    listObjectVersions,
    {
      action: 'ListObjectVersions',
      method: 'GET',
      level: 'bucket',
      marks: ['versions'],
      parameters: [...PARAMETERS, 'key-marker', 'version-id-marker'],
    },
    async (services, principal, call) => {
      const asked = readAsked(call)
      const { count, encoding, ...query } = asked
      const { 'key-marker': keyMarker = '', 'version-id-marker': versionIdMarker = '' } = call.query
      const from = { keyMarker, versionIdMarker, maxKeys: count.limit }
      const page = await listObjectVersions(services, principal, { ...query, ...from })
      const { versions, commonPrefixes, next } = count.isNothing ? NO_VERSIONS : page
      const { text } = encoding
      const owner = ownerElement('Owner', principal.tenantId)
      return xmlAnswer(
        element(
          'ListVersionsResult',
          ...beginning(asked),
          element('KeyMarker', text(keyMarker)),
          element('VersionIdMarker', versionIdMarker),
          next !== null && element('NextKeyMarker', text(next.keyMarker)),
          next !== null &&
            next.versionIdMarker !== '' &&
            element('NextVersionIdMarker', next.versionIdMarker),
          ...end(asked, next !== null),
          versionElements(versions, encoding, owner),
          prefixElements(commonPrefixes, encoding),
        ),
      )
    },
  ),
]

interface Asked {
  readonly bucket: string
  readonly prefix: string
  readonly delimiter: string
  readonly count: Count
  readonly encoding: Encoding
}

/** Throws S3Fault InvalidArgument. */
function readAsked({ bucket, query }: S3Call): Asked {
  const { prefix = '', delimiter = '' } = query
  return { bucket, prefix, delimiter, count: readCount(query, 'max-keys'), encoding: readEncoding(query) }
}

function beginning({ bucket, prefix, encoding }: Asked): readonly XmlElement[] {
  return [element('Name', bucket), element('Prefix', encoding.text(prefix))]
}

function end({ count, delimiter, encoding }: Asked, isTruncated: boolean): readonly (XmlElement | null)[] {
  return [
    element('MaxKeys', count.max),
    delimiter === '' ? null : element('Delimiter', encoding.text(delimiter)),
    encoding.type,
    element('IsTruncated', `${isTruncated}`),
  ]
}

const NO_VERSIONS = { versions: [], commonPrefixes: [], next: null }

/** Asked for nothing, there is nothing more: S3 does not say that it is truncated. */
function shown({ isNothing }: Count, page: ObjectListing): ObjectListing {
  if (!isNothing) return page
  return { ...page, objects: [], commonPrefixes: [], nextContinuationToken: null, nextStartAfter: null }
}
