/**
 * The routes of objects: parse headers and key, run one operation, dress the outcome. No rules here.
 */
import Type from 'typebox'
import { deleteObject } from '../../operations/objects/delete-object.ts'
import { getObject } from '../../operations/objects/get-object.ts'
import { headObject } from '../../operations/objects/object-lookups.ts'
import { putObject } from '../../operations/objects/put-object.ts'
import { CAT } from '../examples/names.ts'
import { CUSTOMER_KEY_HEADERS, customerKeyAnswer, OWN_KEY, readCustomerKey } from '../customer-key-headers.ts'
import { dataRoute, type HeaderNote } from '../route.ts'
import { readMetadata } from './metadata-headers.ts'
import { bytesAnswer, headAnswer, storedAnswer } from './object-answers.ts'
import { OBJECT_HEADERS, ObjectView } from './object-view.ts'
import {
  ENTITY_TAGS,
  IF_MATCH,
  readIfMatchAlone,
  readPrecondition,
  WRITE_CONDITIONS,
} from './precondition-headers.ts'
import { GIVEN_BACK_NOTES, readRepresentation, REPRESENTATION_NOTES } from './representation-headers.ts'
import { readSettings, SETTINGS_HEADERS } from './settings-headers.ts'
import {
  CLAIM_HEADERS,
  declaredLength,
  IDEMPOTENCY_KEY,
  readBodyClaims,
  readContentType,
  readIdempotencyKey,
  refuseUnknownUploadHeaders,
} from './upload-headers.ts'
import { MARKER_HEADERS, versionHeaders, VersionQuery } from './version-headers.ts'

const PATH = '/buckets/{bucket}/objects/{key...}'
export const Bytes = Type.Unsafe<Uint8Array>({ type: 'string', format: 'binary' })

export const RANGE_HEADERS: readonly HeaderNote[] = [
  {
    name: 'Range',
    description: 'One range of bytes, such as bytes=0-99, bytes=100- or bytes=-100',
    schema: { pattern: '^bytes=([0-9]+-[0-9]*|-[0-9]+)$' },
  },
  { name: 'If-Range', description: 'Ignore Range unless this etag or date still holds' },
]
export const CONDITION_HEADERS: readonly HeaderNote[] = [
  { name: 'If-Match', description: 'Answer 412 unless the etag is one of these', schema: ENTITY_TAGS },
  { name: 'If-None-Match', description: 'Answer 304 when the etag is one of these', schema: ENTITY_TAGS },
  { name: 'If-Modified-Since', description: 'Answer 304 when not stored since' },
  { name: 'If-Unmodified-Since', description: 'Answer 412 when stored since' },
]

export const objectRoutes = [
  dataRoute(
    putObject,
    {
      method: 'PUT',
      path: PATH,
      summary: 'Store an object',
      description:
        'The body is the object, whatever its Content-Type. Every digest given is verified before anything is stored; a header Trailer announces those that come behind a body in chunks. With Idempotency-Key a repeated upload is answered as the first one was, for 24 hours; the key is bound to size, bytes, content type, user metadata and the headers of the representation, and needs a checksum header.',
      query: Type.Object({}, { additionalProperties: false }),
      body: 'bytes',
      requestHeaders: [
        ...CLAIM_HEADERS,
        { name: 'X-Service-Meta-<name>', description: 'User metadata, 2 KiB in all' },
        ...REPRESENTATION_NOTES,
        ...SETTINGS_HEADERS,
        ...CUSTOMER_KEY_HEADERS,
        ...WRITE_CONDITIONS,
        IDEMPOTENCY_KEY,
        {
          ...IDEMPOTENCY_KEY,
          name: 'X-Service-Idempotency-Key',
          description: 'Another name of the same header',
        },
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
        params: CAT,
        headers: {
          'Content-Type': 'text/plain',
          'X-Service-Checksum-SHA256': 'LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ=',
          'X-Service-Tagging': 'animal=cat',
          'Idempotency-Key': 'upload-1',
          'If-None-Match': '*',
        },
        body: 'hello',
      },
    },
    async (services, principal, call) => {
      const { headers, params, bytes, trailers, signal } = call
      refuseUnknownUploadHeaders(headers)
      const customer = readCustomerKey(headers, OWN_KEY, principal.circumstances)
      const stored = await putObject(services, principal, {
        ...params,
        contentType: readContentType(headers),
        metadata: readMetadata(headers),
        ...readRepresentation(headers),
        ...readSettings(headers),
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

  dataRoute(
    getObject,
    {
      method: 'GET',
      path: PATH,
      summary: 'Read an object, or one range of it',
      description:
        'Several ranges at once are answered with the whole object. A key whose newest version is a delete marker is a 404 with `X-Service-Delete-Marker: true`; a delete marker asked for by its version a 405.',
      query: VersionQuery,
      requestHeaders: [...RANGE_HEADERS, ...CONDITION_HEADERS, ...CUSTOMER_KEY_HEADERS],
      responseHeaders: [...OBJECT_HEADERS, ...GIVEN_BACK_NOTES],
      success: {
        status: 200,
        description: 'The bytes of the object',
        content: { type: '*/*', schema: Bytes },
      },
      otherStatuses: { 206: 'The bytes of the range; Content-Range says which', 304: 'Not modified' },
      example: { params: CAT, headers: { Range: 'bytes=0-3' } },
    },
    async (services, principal, { params, query, headers }) => {
      const customer = readCustomerKey(headers, OWN_KEY, principal.circumstances)
      const wanted = { ...params, versionId: query.versionId, customerKey: customer?.key }
      const found = await getObject(services, principal, wanted)
      return bytesAnswer(found, headers, customerKeyAnswer(OWN_KEY, customer))
    },
  ),

  dataRoute(
    headObject,
    {
      method: 'HEAD',
      path: PATH,
      summary: 'Read what is known of an object, as headers',
      query: VersionQuery,
      requestHeaders: [...CONDITION_HEADERS, ...CUSTOMER_KEY_HEADERS],
      responseHeaders: [...OBJECT_HEADERS, ...GIVEN_BACK_NOTES],
      success: { status: 200, description: 'The headers that GET would give' },
      otherStatuses: { 304: 'Not modified' },
      example: { params: CAT },
    },
    async (services, principal, { params, query, headers }) => {
      const customer = readCustomerKey(headers, OWN_KEY, principal.circumstances)
      const wanted = { ...params, versionId: query.versionId, customerKey: customer?.key }
      const found = await headObject(services, principal, wanted)
      return headAnswer(found, headers, customerKeyAnswer(OWN_KEY, customer))
    },
  ),

  dataRoute(
    deleteObject,
    {
      method: 'DELETE',
      path: PATH,
      summary: 'Delete an object; a key that does not exist is no error',
      description:
        'Where there are versions, a delete without `versionId` makes a delete marker and removes nothing; with `versionId` that version goes for good, unless it is locked.',
      query: VersionQuery,
      requestHeaders: [IF_MATCH],
      responseHeaders: MARKER_HEADERS,
      success: { status: 204, description: 'The object is gone' },
      example: { params: CAT },
    },
    async (services, principal, { params, query, headers }) => {
      const wanted = { ...params, versionId: query.versionId, ifMatch: readIfMatchAlone(headers) }
      const { bucket, deleted } = await deleteObject(services, principal, wanted)
      return { kind: 'empty', headers: versionHeaders(bucket, deleted.version) }
    },
  ),
]
