/**
 * The routes of the S3 API that read an object: all of it, a range, a part, its headers, its attributes.
 */
import type { IncomingHttpHeaders } from 'node:http'
import { getObject } from '../../../operations/objects/get-object.ts'
import { getObjectParts } from '../../../operations/objects/get-object-parts.ts'
import { objectExpiry } from '../../../operations/lifecycle/object-expiry.ts'
import type { FoundObject } from '../../../operations/objects/object-checks.ts'
import { type DescribedObject, headObject } from '../../../operations/objects/object-lookups.ts'
import { partCountOf, type PlacedPart } from '../../../operations/objects/object-parts.ts'
import type { CustomerKey } from '../../customer-key-headers.ts'
import { headerText } from '../../header-text.ts'
import { isWanted, wantedRange } from '../../native/read-conditions.ts'
import { cachingHeaders, representationHeaders } from '../../native/representation-headers.ts'
import type { Answer } from '../../route.ts'
import { storedBytes } from '../../stored-bytes.ts'
import { attributesElement, readAttributes } from './object-attributes.ts'
import { checksumHeaders, expirationHeader, s3ObjectHeaders, s3VersionHeaders } from './object-headers.ts'
import { overriddenHeaders, RESPONSE_PARAMETERS } from './response-parameters.ts'
import { CUSTOMER_KEY, readS3Key } from '../base/s3-encryption.ts'
import { S3Fault } from '../base/s3-errors.ts'
import { type S3Call, type S3Route, s3Route } from '../base/s3-route.ts'
import { wholeNumber, xmlAnswer } from '../base/xml-answers.ts'
import { VERSION_PARAMETER, versionIn } from '../base/version-parameter.ts'

const PART = 'partNumber'
const READ = {
  level: 'object',
  parameters: [VERSION_PARAMETER, PART, ...RESPONSE_PARAMETERS],
  headers: ['x-amz-checksum-mode', ...CUSTOMER_KEY],
} as const

export const objectReadRoutes: readonly S3Route[] = [
  s3Route(getObject, { action: 'GetObject', method: 'GET', ...READ }, async (services, principal, call) => {
    const { bucket, key, query, headers } = call
    const customer = readS3Key(headers, principal)
    const wanted = { bucket, key, versionId: versionIn(query), customerKey: customer?.key }
    const found = await getObject(services, principal, wanted)
    if (!isWanted(headers, found.object)) return notModified(found, customer)
    const { object } = found
    const part = askedPart(call, found)
    const range = part?.range ?? wantedRange(headers, object)
    const { start, end } = range ?? { start: 0, end: object.size }
    return {
      kind: 'bytes',
      status: range === null ? 200 : 206,
      headers: {
        ...expirationHeader(objectExpiry(services, found.bucket, object)),
        ...headersOf(found, call, { part, customer, isWhole: range === null }),
        ...(range === null || object.size === 0
          ? {}
          : { 'content-range': `bytes ${start}-${end - 1}/${object.size}` }),
      },
      ...storedBytes(found, { start, end }),
    }
  }),

  s3Route(
    headObject,
    { action: 'HeadObject', method: 'HEAD', ...READ },
    async (services, principal, call) => {
      const { bucket, key, query, headers } = call
      const customer = readS3Key(headers, principal)
      const wanted = { bucket, key, versionId: versionIn(query), customerKey: customer?.key }
      const found = await headObject(services, principal, wanted)
      if (!isWanted(headers, found.object)) return notModified(found, customer)
      const part = askedPart(call, found)
      const { start, end } = part?.range ?? { start: 0, end: found.object.size }
      const expiry = objectExpiry(services, found.bucket, found.object)
      return {
        kind: 'empty',
        status: part === null ? 200 : 206,
        headers: {
          ...expirationHeader(expiry),
          ...headersOf(found, call, { part, customer, isWhole: true }),
          'content-length': `${end - start}`,
        },
      }
    },
  ),

  s3Route(
    getObjectParts,
    {
      action: 'GetObjectAttributes',
      method: 'GET',
      level: 'object',
      marks: ['attributes'],
      parameters: [VERSION_PARAMETER],
      headers: ['x-amz-object-attributes', 'x-amz-max-parts', 'x-amz-part-number-marker', ...CUSTOMER_KEY],
    },
    async (services, principal, { bucket, key, query, headers }) => {
      const asked = readAttributes(headers)
      const customerKey = readS3Key(headers, principal)?.key
      const name = { bucket, key, versionId: versionIn(query), customerKey }
      const page = await getObjectParts(services, principal, { ...name, ...asked })
      return xmlAnswer(attributesElement(page, asked), {
        'last-modified': new Date(page.object.lastModified).toUTCString(),
        ...s3VersionHeaders(page.bucket, page.object),
      })
    },
  ),
]

/** Null: the request asks for none. Throws S3Fault. */
function askedPart({ query, headers }: S3Call, found: Pick<DescribedObject, 'part'>): PlacedPart | null {
  const number = wholeNumber(query, PART)
  if (number === undefined) return null
  if (headers.range !== undefined)
    throw new S3Fault('InvalidRequest', 'A request asks for a Range or for a partNumber, not for both')
  const part = found.part(number)
  if (part !== null) return part
  throw new S3Fault('InvalidPartNumber', `The object has no part ${number}`)
}

interface Answered {
  readonly part: PlacedPart | null
  readonly customer: CustomerKey | undefined
  readonly isWhole: boolean
}

function headersOf(
  { bucket, object }: FoundObject,
  { query, headers }: S3Call,
  { part, customer, isWhole }: Answered,
): Record<string, string> {
  const isWanting = wantsChecksums(headers)
  const parts = partCountOf(object)
  return {
    ...s3ObjectHeaders(bucket, object, { withChecksums: isWanting && part === null && isWhole, customer }),
    ...(isWanting && part?.checksums ? partChecksumHeaders(object, part.checksums) : {}),
    ...(part === null || parts === null ? {} : { 'x-amz-mp-parts-count': `${parts}` }),
    'content-type': object.contentType,
    ...representationHeaders(object),
    ...overriddenHeaders(query),
  }
}

/** Digests of the part, with the type of the whole object's checksum. [S3 GetObject: PartNumber, ChecksumType] */
function partChecksumHeaders(
  { composite }: FoundObject['object'],
  checksums: NonNullable<PlacedPart['checksums']>,
): Record<string, string> {
  const own = checksumHeaders({ checksums })
  return composite === undefined ? own : { ...own, 'x-amz-checksum-type': 'COMPOSITE' }
}

function wantsChecksums(headers: IncomingHttpHeaders): boolean {
  return headerText(headers, 'x-amz-checksum-mode')?.toUpperCase() === 'ENABLED'
}

function notModified({ bucket, object }: FoundObject, customer: CustomerKey | undefined): Answer {
  return {
    kind: 'empty',
    status: 304,
    headers: {
      ...s3ObjectHeaders(bucket, object, { withChecksums: false, customer }),
      ...cachingHeaders(object),
    },
  }
}
