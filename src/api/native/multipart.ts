/**
 * The routes of multipart uploads as a whole: begin, complete, give up, list. No rules here. [decisions 6]
 */
import Type from 'typebox'
import { abortMultipartUpload } from '../../operations/multipart/abort-multipart-upload.ts'
import { completeMultipartUpload } from '../../operations/multipart/complete-multipart-upload.ts'
import { createMultipartUpload } from '../../operations/multipart/create-multipart-upload.ts'
import { listMultipartUploads } from '../../operations/multipart/list-multipart-uploads.ts'
import { PART_TAG_PATTERN } from '../../operations/multipart/named-parts.ts'
import { UPLOAD_ID } from '../../operations/multipart/upload-id.ts'
import { FILM, FILM_UPLOAD, PHOTOS } from '../examples/names.ts'
import { documented } from '../documented.ts'
import { customerKeyAnswer, OWN_KEY, readCustomerKey } from '../customer-key-headers.ts'
import { dataRoute } from '../route.ts'
import { ListedUploadView, listedUploadView, UploadView, uploadView } from './multipart-view.ts'
import { NEW_UPLOAD_HEADERS, NewUpload, readNewUpload } from './new-upload.ts'
import { OBJECT_HEADERS, objectHeaders, ObjectView, objectView } from './object-view.ts'
import { readPrecondition, WRITE_CONDITIONS } from './precondition-headers.ts'
import { checksumClaims } from './trailing-claims.ts'
import { CHECKSUM_HEADER, refuseForeignHeaders } from './upload-headers.ts'

const UPLOADS_PATH = '/buckets/{bucket}/multipart'
/** 10,000 parts, written with room between them. */
const COMPLETION_BYTES_MAX = 4 * 1024 * 1024
/** Two for each part, and one. */
const COMPLETION_NAMES_MAX = 25_000

const Completion = Type.Object(
  {
    parts: Type.Array(
      Type.Object(
        {
          partNumber: Type.Integer(documented({ minimum: 1, maximum: 10_000 })),
          etag: Type.String(documented({ pattern: PART_TAG_PATTERN })),
        },
        { additionalProperties: false },
      ),
      documented({ minItems: 1, maxItems: 10_000 }),
    ),
  },
  { additionalProperties: false },
)

const UploadsQuery = Type.Object(
  {
    prefix: Type.Optional(Type.String()),
    keyMarker: Type.Optional(Type.String()),
    uploadIdMarker: Type.Optional(Type.String()),
    maxUploads: Type.Optional(Type.Integer()),
  },
  { additionalProperties: false },
)

const UploadsPage = Type.Object(
  {
    uploads: Type.Array(ListedUploadView),
    keyMarker: Type.String(),
    uploadIdMarker: Type.String(),
    maxUploads: Type.Integer(),
    isTruncated: Type.Boolean(),
    nextKeyMarker: Type.Optional(Type.String()),
    nextUploadIdMarker: Type.Optional(Type.String()),
  },
  { additionalProperties: false },
)

export const multipartRoutes = [
  dataRoute(
    createMultipartUpload,
    {
      method: 'POST',
      path: `${UPLOADS_PATH}/{key...}`,
      summary: 'Begin a multipart upload',
      description:
        'What is given holds for the object once it is complete; each of it in the body or in a header, not in both. An upload that is not completed in time is given up.',
      body: { schema: NewUpload, required: false },
      requestHeaders: NEW_UPLOAD_HEADERS,
      responseHeaders: [{ name: 'Location', description: 'Path of its parts' }],
      success: {
        status: 201,
        description: 'The upload',
        content: { type: 'application/json', schema: UploadView },
      },
      example: {
        params: FILM,
        body: { contentType: 'text/plain', tags: { kind: 'film' }, checksumAlg: 'CRC32C' },
      },
    },
    async (services, principal, { headers, params, body }) => {
      const requested = readNewUpload(headers, body)
      const customer = readCustomerKey(headers, OWN_KEY, principal.circumstances)
      const asked = { ...params, ...requested, customerKey: customer?.key }
      const { bucket, upload } = await createMultipartUpload(services, principal, asked)
      const path = `${bucket.name}/multipart/${upload.uploadId}/parts/${pathText(upload.key)}`
      return {
        kind: 'json',
        headers: { location: `/api/v1/buckets/${path}`, ...customerKeyAnswer(OWN_KEY, customer) },
        body: uploadView(bucket.name, upload),
      }
    },
  ),

  dataRoute(
    completeMultipartUpload,
    {
      method: 'POST',
      path: `${UPLOADS_PATH}/{uploadId}/complete/{key...}`,
      forms: { uploadId: UPLOAD_ID },
      summary: 'Assemble the parts of an upload into the object',
      description:
        'Parts in rising order, each with the etag that its upload answered; parts that are not named are dropped. Checksums of the whole are made of those of the parts: CRC64NVME always, CRC32 and CRC32C when every part has them. Asked again with the same parts, it answers the same for a day. The body may have 4 MiB.',
      body: { schema: Completion, bytesMax: COMPLETION_BYTES_MAX, namesMax: COMPLETION_NAMES_MAX },
      requestHeaders: [CHECKSUM_HEADER, ...WRITE_CONDITIONS],
      responseHeaders: OBJECT_HEADERS,
      success: {
        status: 200,
        description: 'The object',
        content: { type: 'application/json', schema: ObjectView },
      },
      example: {
        params: FILM_UPLOAD,
        body: { parts: [{ partNumber: 1, etag: '{uploadPart.etag}' }] },
      },
    },
    async (services, principal, { headers, params, body }) => {
      refuseForeignHeaders(
        headers,
        /^(x-service-checksum-|if-)/,
        'What the object has was said at the beginning',
      )
      const { bucket, object } = await completeMultipartUpload(services, principal, {
        ...params,
        parts: body.parts,
        precondition: readPrecondition(headers),
        claimed: checksumClaims(headers),
      })
      return { kind: 'json', headers: objectHeaders(bucket, object), body: objectView(bucket.name, object) }
    },
  ),

  dataRoute(
    abortMultipartUpload,
    {
      method: 'DELETE',
      path: `${UPLOADS_PATH}/{uploadId}/{key...}`,
      summary: 'Give an upload up; one that does not exist is no error',
      success: { status: 204, description: 'The upload is gone, and its parts will be' },
      example: { params: FILM_UPLOAD },
    },
    async (services, principal, { params }) => {
      await abortMultipartUpload(services, principal, params)
      return { kind: 'empty' }
    },
  ),

  dataRoute(
    listMultipartUploads,
    {
      method: 'GET',
      path: UPLOADS_PATH,
      summary: 'List the uploads under way',
      description:
        'By key, and of a key in the order of their beginnings. Without `uploadIdMarker`, none of `keyMarker` itself is shown. `maxUploads` is clamped to 1..1000.',
      query: UploadsQuery,
      success: {
        status: 200,
        description: 'One page of uploads',
        content: { type: 'application/json', schema: UploadsPage },
      },
      example: { params: PHOTOS, query: { prefix: '2026/' } },
    },
    async (services, principal, { params: { bucket }, query }) => {
      const { prefix = '', keyMarker = '', uploadIdMarker = '', maxUploads } = query
      const asked = { bucket, prefix, delimiter: '', keyMarker, uploadIdMarker, maxUploads }
      const { uploads, next, ...page } = await listMultipartUploads(services, principal, asked)
      const body = {
        uploads: uploads.map(listedUploadView),
        keyMarker,
        uploadIdMarker,
        maxUploads: page.maxUploads,
        isTruncated: next !== null,
        ...(next === null ? {} : { nextKeyMarker: next.keyMarker, nextUploadIdMarker: next.uploadIdMarker }),
      }
      return { kind: 'json', body }
    },
  ),
]

/** A key as a path: slashes stay slashes. */
function pathText(key: string): string {
  return key.split('/').map(encodeURIComponent).join('/')
}
