/**
 * The routes of objects: parse headers and key, run one operation, dress the outcome. No rules here.
 */
import Type from 'typebox'
import { deleteObject } from '../../operations/objects/delete-object.ts'
import { getObject } from '../../operations/objects/get-object.ts'
import { headObject } from '../../operations/objects/head-object.ts'
import { putObject } from '../../operations/objects/put-object.ts'
import type { ObjectRecord } from '../../state-machine/records.ts'
import { type Answer, dataRoute, type HeaderNote } from '../route.ts'
import { ObjectView, objectHeaders, objectView } from './object-view.ts'
import { isWanted, wantedRange } from './read-conditions.ts'
import {
  declaredLength,
  readClaims,
  readContentType,
  refuseUnservedConditions,
  refuseUnservedUploadHeaders,
} from './upload-headers.ts'
import { readMetadata } from './metadata-headers.ts'

const PATH = '/buckets/{bucket}/objects/{key...}'
const Bytes = Type.Unsafe<Uint8Array>({ type: 'string', format: 'binary' })
const VersionQuery = Type.Object({ versionId: Type.Optional(Type.String()) }, { additionalProperties: false })

const OBJECT_HEADERS: readonly HeaderNote[] = [
  { name: 'ETag', description: 'Entity tag, quoted' },
  { name: 'Last-Modified', description: 'When the object was stored' },
  { name: 'X-Service-Object-Length', description: 'Bytes of the whole object, on a partial answer too' },
  { name: 'X-Service-Checksum-<ALG>', description: 'Stored digests, base64' },
  { name: 'X-Service-Meta-<name>', description: 'User metadata' },
]
const CONDITION_HEADERS: readonly HeaderNote[] = [
  { name: 'If-Match', description: 'Answer 412 unless the etag is one of these' },
  { name: 'If-None-Match', description: 'Answer 304 when the etag is one of these' },
  { name: 'If-Modified-Since', description: 'Answer 304 when not stored since' },
  { name: 'If-Unmodified-Since', description: 'Answer 412 when stored since' },
]

export const objectRoutes = {
  putObject: dataRoute(
    {
      operationId: 'putObject',
      method: 'PUT',
      path: PATH,
      summary: 'Store an object',
      description:
        'The body is the object, whatever its Content-Type. Every digest given is verified before anything is stored. Preconditions and Idempotency-Key are refused with 501.',
      query: Type.Object({}, { additionalProperties: false }),
      body: 'bytes',
      requestHeaders: [
        {
          name: 'X-Service-Checksum-<ALG>',
          description: 'base64 digest: CRC32, CRC32C, CRC64NVME, SHA1, SHA256',
        },
        { name: 'X-Service-Meta-<name>', description: 'User metadata, 2 KiB in all' },
      ],
      responseHeaders: OBJECT_HEADERS,
      success: {
        status: 200,
        description: 'The object as stored',
        content: { type: 'application/json', schema: ObjectView },
      },
    },
    async (services, principal, call) => {
      const { headers, params, bytes, signal } = call
      refuseUnservedUploadHeaders(headers)
      const { bucket, object } = await putObject(services, principal, {
        ...params,
        contentType: readContentType(headers),
        metadata: readMetadata(headers),
        claimed: readClaims(headers),
        expectedSize: declaredLength(headers),
        source: bytes,
        signal,
      })
      return { kind: 'json', headers: objectHeaders(object), body: objectView(bucket.name, object) }
    },
  ),

  getObject: dataRoute(
    {
      operationId: 'getObject',
      method: 'GET',
      path: PATH,
      summary: 'Read an object, or one range of it',
      query: VersionQuery,
      requestHeaders: [
        { name: 'Range', description: 'One range of bytes, such as bytes=0-99, bytes=100- or bytes=-100' },
        { name: 'If-Range', description: 'Ignore Range unless this etag or date still holds' },
        ...CONDITION_HEADERS,
      ],
      responseHeaders: OBJECT_HEADERS,
      success: {
        status: 200,
        description: 'The bytes of the object',
        content: { type: 'application/octet-stream', schema: Bytes },
      },
      otherStatuses: { 206: 'The bytes of the range; Content-Range says which', 304: 'Not modified' },
    },
    async (services, principal, { params, query, headers }) => {
      const found = await getObject(services, principal, { ...params, versionId: query.versionId })
      const { object } = found
      if (!isWanted(headers, object)) return notModified(object)
      const range = wantedRange(headers, object)
      const { start, end } = range ?? { start: 0, end: object.size }
      const contentRange = { 'content-range': `bytes ${start}-${end - 1}/${object.size}` }
      return {
        kind: 'bytes',
        status: range === null ? 200 : 206,
        headers: {
          ...objectHeaders(object),
          'content-type': object.contentType,
          ...(range === null ? {} : contentRange),
        },
        bytes: found.read({ start, end }),
        length: end - start,
      }
    },
  ),

  headObject: dataRoute(
    {
      operationId: 'headObject',
      method: 'HEAD',
      path: PATH,
      summary: 'Read what is known of an object, as headers',
      query: VersionQuery,
      requestHeaders: CONDITION_HEADERS,
      responseHeaders: OBJECT_HEADERS,
      success: { status: 200, description: 'The headers that GET would give' },
      otherStatuses: { 304: 'Not modified' },
    },
    async (services, principal, { params, query, headers }) => {
      const { object } = await headObject(services, principal, { ...params, versionId: query.versionId })
      if (!isWanted(headers, object)) return notModified(object)
      const own = { 'content-type': object.contentType, 'content-length': `${object.size}` }
      return { kind: 'empty', headers: { ...objectHeaders(object), ...own } }
    },
  ),

  deleteObject: dataRoute(
    {
      operationId: 'deleteObject',
      method: 'DELETE',
      path: PATH,
      summary: 'Delete an object; a key that does not exist is no error',
      query: VersionQuery,
      success: { status: 204, description: 'The object is gone' },
    },
    async (services, principal, { params, query, headers }) => {
      refuseUnservedConditions(headers)
      await deleteObject(services, principal, { ...params, versionId: query.versionId })
      return { kind: 'empty' }
    },
  ),
}

function notModified(object: ObjectRecord): Answer {
  return { kind: 'empty', status: 304, headers: objectHeaders(object) }
}
