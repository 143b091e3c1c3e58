/**
 * The routes of the parts of an upload: parse headers and path, run one operation, dress the outcome. No rules here.
 */
import Type from 'typebox'
import { Refusal } from '../../base/refusal.ts'
import { listParts } from '../../operations/multipart/list-parts.ts'
import { uploadPart } from '../../operations/multipart/upload-part.ts'
import { FILM_UPLOAD } from '../examples/names.ts'
import { CUSTOMER_KEY_HEADERS, customerKeyAnswer, OWN_KEY, readCustomerKey } from '../customer-key-headers.ts'
import { dataRoute } from '../route.ts'
import { ListedPartView, listedPartView, PartView, partView } from './multipart-view.ts'
import { CLAIM_HEADERS, declaredLength, readBodyClaims, refuseForeignHeaders } from './upload-headers.ts'

const PARTS_PATH = '/buckets/{bucket}/multipart/{uploadId}/parts'

const PartsQuery = Type.Object(
  { maxParts: Type.Optional(Type.Integer()), partNumberMarker: Type.Optional(Type.Integer()) },
  { additionalProperties: false },
)

const PartsPage = Type.Object(
  {
    uploadId: Type.String(),
    key: Type.String(),
    parts: Type.Array(ListedPartView),
    maxParts: Type.Integer(),
    partNumberMarker: Type.Integer(),
    isTruncated: Type.Boolean(),
    nextPartNumberMarker: Type.Optional(Type.Integer()),
  },
  { additionalProperties: false },
)

export const multipartPartRoutes = [
  dataRoute(
    uploadPart,
    {
      method: 'PUT',
      path: `${PARTS_PATH}/{partNumber}/{key...}`,
      summary: 'Upload a part',
      description:
        'The body is the part. Every digest given is verified before anything is stored. A part that is sent again replaces the one before. Each part but the last has 5 MiB to 5 GiB, which is checked on completion.',
      query: Type.Object({}, { additionalProperties: false }),
      body: 'bytes',
      requestHeaders: [...CLAIM_HEADERS, ...CUSTOMER_KEY_HEADERS],
      responseHeaders: [{ name: 'ETag', description: 'Entity tag of the part, quoted' }],
      success: {
        status: 200,
        description: 'The part as stored',
        content: { type: 'application/json', schema: PartView },
      },
      example: { params: { ...FILM_UPLOAD, partNumber: '1' }, body: 'Once upon a time' },
    },
    async (services, principal, { headers, params, bytes, trailers, signal }) => {
      refuseForeignHeaders(
        headers,
        /^x-service-(checksum|customer)-/,
        'A part has a length, checksums and the key of its upload, nothing else',
      )
      const customer = readCustomerKey(headers, OWN_KEY, principal.circumstances)
      const part = await uploadPart(services, principal, {
        ...params,
        partNumber: partNumberOf(params.partNumber),
        customerKey: customer?.key,
        ...readBodyClaims(headers, trailers),
        expectedSize: declaredLength(headers),
        source: bytes,
        signal,
      })
      const own = { etag: `"${part.etag}"`, ...customerKeyAnswer(OWN_KEY, customer) }
      return { kind: 'json', headers: own, body: partView(part) }
    },
  ),

  dataRoute(
    listParts,
    {
      method: 'GET',
      path: `${PARTS_PATH}/{key...}`,
      summary: 'List the parts of an upload, with their checksums',
      description: 'By their numbers. `maxParts` is clamped to 1..1000.',
      query: PartsQuery,
      success: {
        status: 200,
        description: 'One page of parts',
        content: { type: 'application/json', schema: PartsPage },
      },
      example: { params: FILM_UPLOAD, query: { maxParts: '100' } },
    },
    async (services, principal, { params, query: { maxParts, partNumberMarker } }) => {
      const page = await listParts(services, principal, { ...params, maxParts, partNumberMarker })
      const body = {
        uploadId: params.uploadId,
        key: params.key,
        parts: page.parts.map(listedPartView),
        maxParts: page.maxParts,
        partNumberMarker: page.partNumberMarker,
        isTruncated: page.next !== null,
        ...(page.next === null ? {} : { nextPartNumberMarker: page.next }),
      }
      return { kind: 'json', body }
    },
  ),
]

/** Which numbers there are is known to apply; here it is only read. */
function partNumberOf(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text)
  throw new Refusal(
    'invalid_argument',
    `The part number "${text.slice(0, 40)}" is no whole number: give one of 1 to 10000`,
  )
}
