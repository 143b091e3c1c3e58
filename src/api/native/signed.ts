/**
 * The routes that a signed URL opens. [native: Signed-URL access] [decisions 8]
 *
 * Rules: headers that ask for what is not in any URL, a tag or a lock, are refused; nothing of the query but the token is looked at,
 * because mailers append to links. Answers go to browsers: see link-headers.ts.
 */
import Type from 'typebox'
import type { SignedUrl } from '../../access/base/signed-url.ts'
import { getSigned } from '../../operations/signed/get-signed.ts'
import { putSigned } from '../../operations/signed/put-signed.ts'
import type { ObjectRecord } from '../../state-machine/versions/records.ts'
import { CAT, PHOTOS } from '../examples/names.ts'
import { linkHeaders } from '../link-headers.ts'
import { CUSTOMER_KEY_HEADERS, customerKeyAnswer, OWN_KEY, readCustomerKey } from '../customer-key-headers.ts'
import { signedRoute } from '../route.ts'
import { readMetadata } from './metadata-headers.ts'
import { bytesAnswer, headAnswer, storedAnswer } from './object-answers.ts'
import { OBJECT_HEADERS, ObjectView } from './object-view.ts'
import { Bytes, CONDITION_HEADERS, RANGE_HEADERS } from './objects.ts'
import { readPrecondition, WRITE_CONDITIONS } from './precondition-headers.ts'
import { GIVEN_BACK_NOTES, readRepresentation, REPRESENTATION_NOTES } from './representation-headers.ts'
import { SIGNED_PATH } from './signed-address.ts'
import {
  CLAIM_HEADERS,
  declaredLength,
  IDEMPOTENCY_KEY,
  readBodyClaims,
  readContentType,
  readIdempotencyKey,
  refuseForeignHeaders,
} from './upload-headers.ts'

const PATH = `${SIGNED_PATH}/{bucket}/{key...}` as const
const Query = Type.Object({ token: Type.String() }, { additionalProperties: false })
const TAKEN = /^(x-service-(meta|checksum|customer)-.+|if-match|if-none-match)$/
const NOT_TAKEN = 'A signed URL grants no tags and no locks; metadata, checksums and conditions are taken'

export const signedRoutes = [
  signedRoute(
    getSigned,
    {
      method: 'GET',
      path: PATH,
      summary: 'Read an object by a signed URL',
      description:
        'Authorized by the token alone; an Authorization header is not looked at. Content type and disposition are those that the URL names, if it names any.',
      query: Query,
      requestHeaders: [...RANGE_HEADERS, ...CONDITION_HEADERS, ...CUSTOMER_KEY_HEADERS],
      responseHeaders: [...OBJECT_HEADERS, ...GIVEN_BACK_NOTES],
      success: {
        status: 200,
        description: 'The bytes of the object',
        content: { type: '*/*', schema: Bytes },
      },
      otherStatuses: { 206: 'The bytes of the range; Content-Range says which', 304: 'Not modified' },
      example: { params: CAT, query: { token: '{signURL.token}' } },
    },
    async (services, principal, { method, params, headers }) => {
      const customer = readCustomerKey(headers, OWN_KEY, principal.circumstances)
      const found = await getSigned(services, principal, { ...params, customerKey: customer?.key })
      const own = {
        ...readHeaders(principal.signedUrl, found.object),
        ...customerKeyAnswer(OWN_KEY, customer),
      }
      return method === 'HEAD' ? headAnswer(found, headers, own) : bytesAnswer(found, headers, own)
    },
  ),

  signedRoute(
    putSigned,
    {
      method: 'PUT',
      path: PATH,
      summary: 'Store an object by a signed URL',
      description:
        'Authorized by the token alone; an Authorization header is not looked at. Size, digest, content type and idempotency key are those that the URL names, if it names any. Tags and locks are refused. Whether the URL has expired is asked when the request begins.',
      query: Query,
      body: 'bytes',
      requestHeaders: [
        ...CLAIM_HEADERS,
        { name: 'X-Service-Meta-<name>', description: 'User metadata, 2 KiB in all' },
        ...REPRESENTATION_NOTES,
        ...CUSTOMER_KEY_HEADERS,
        ...WRITE_CONDITIONS,
        IDEMPOTENCY_KEY,
      ],
      responseHeaders: [
        ...OBJECT_HEADERS,
        { name: 'Idempotent-Replayed', description: 'true: the answer to an earlier upload' },
      ],
      success: {
        status: 200,
        description: 'The object as stored',
        content: { type: 'application/json', schema: ObjectView },
      },
      example: {
        params: { ...PHOTOS, key: '2026/dog.txt' },
        query: { token: '{signUpload.token}' },
        headers: { 'Content-Type': 'text/plain' },
        body: 'woof',
      },
    },
    async (services, principal, { params, headers, bytes, trailers, signal }) => {
      refuseForeignHeaders(headers, TAKEN, NOT_TAKEN)
      const customer = readCustomerKey(headers, OWN_KEY, principal.circumstances)
      const stored = await putSigned(services, principal, {
        ...params,
        contentType: readContentType(headers),
        metadata: readMetadata(headers),
        ...readRepresentation(headers),
        precondition: readPrecondition(headers),
        idempotencyKey: readIdempotencyKey(headers),
        customerKey: customer?.key,
        ...readBodyClaims(headers, trailers),
        expectedSize: declaredLength(headers),
        source: bytes,
        signal,
      })
      return storedAnswer(stored, customerKeyAnswer(OWN_KEY, customer))
    },
  ),
]

function readHeaders(
  { responseContentType, responseContentDisposition }: SignedUrl,
  { contentType: stored, representation }: ObjectRecord,
): Readonly<Record<string, string>> {
  const contentType = responseContentType ?? stored
  return {
    'content-type': contentType,
    ...(responseContentDisposition === null ? {} : { 'content-disposition': responseContentDisposition }),
    ...linkHeaders(contentType, representation?.cacheControl !== undefined),
  }
}
