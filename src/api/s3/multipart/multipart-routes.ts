/**
 * Multipart uploads as a whole in the S3 API: begin, complete, give up, list. No rules here. [AWS S3 API reference: CreateMultipartUpload,
 * CompleteMultipartUpload, AbortMultipartUpload, ListMultipartUploads]
 */
import type { IncomingHttpHeaders } from 'node:http'
import { abortMultipartUpload } from '../../../operations/multipart/abort-multipart-upload.ts'
import { completeMultipartUpload } from '../../../operations/multipart/complete-multipart-upload.ts'
import { createMultipartUpload } from '../../../operations/multipart/create-multipart-upload.ts'
import { noSuchUpload } from '../../../operations/multipart/find-upload.ts'
import { listMultipartUploads } from '../../../operations/multipart/list-multipart-uploads.ts'
import { headerText } from '../../header-text.ts'
import { readPrecondition } from '../../native/precondition-headers.ts'
import {
  CHECKSUM_TYPE,
  readClaimsOfWhole,
  readUploadChecksum,
  uploadChecksumHeaders,
} from './checksum-headers.ts'
import { COMPLETION, readCompletedParts } from './complete-upload-body.ts'
import { readCount, readEncoding } from '../listings/listing-query.ts'
import { etagElement, prefixElements } from '../listings/listing-view.ts'
import { objectChecksumElements } from '../objects/checksum-elements.ts'
import { uploadElement } from './multipart-view.ts'
import { CUSTOMER_KEY, encryptionHeaders, readS3Key } from '../base/s3-encryption.ts'
import { s3VersionHeaders } from '../objects/object-headers.ts'
import { objectLocation } from '../objects/object-location.ts'
import { S3Fault } from '../base/s3-errors.ts'
import { LATE_NOTE, type S3Call, type S3Route, s3Route } from '../base/s3-route.ts'
import { xmlAnswer } from '../base/xml-answers.ts'
import { CONDITION_HEADERS, DESCRIPTION_HEADERS, readNewObject } from '../objects/upload-headers.ts'
import { element } from '../xml/write-xml.ts'

const UPLOAD = 'uploadId'
const OBJECT_SIZE = 'x-amz-mp-object-size'

export const multipartRoutes: readonly S3Route[] = [
  s3Route(
    createMultipartUpload,
    {
      action: 'CreateMultipartUpload',
      method: 'POST',
      level: 'object',
      marks: ['uploads'],
      headers: [...DESCRIPTION_HEADERS, CHECKSUM_TYPE],
    },
    async (services, principal, { bucket, key, headers }) => {
      const customer = readS3Key(headers, principal)
      const own = { ...readNewObject(headers), ...readUploadChecksum(headers) }
      const settings = { ...own, customerKey: customer?.key }
      const { upload } = await createMultipartUpload(services, principal, { bucket, key, ...settings })
      return xmlAnswer(
        element(
          'InitiateMultipartUploadResult',
          element('Bucket', bucket),
          element('Key', key),
          element('UploadId', upload.uploadId),
        ),
        { ...encryptionHeaders(customer), ...uploadChecksumHeaders(upload) },
      )
    },
  ),

  s3Route(
    completeMultipartUpload,
    {
      action: 'CompleteMultipartUpload',
      method: 'POST',
      level: 'object',
      marks: [UPLOAD],
      headers: [...CONDITION_HEADERS, CHECKSUM_TYPE, OBJECT_SIZE, ...CUSTOMER_KEY],
      body: COMPLETION,
      claimsObject: true,
      isSlow: true,
      note: LATE_NOTE,
    },
    async (services, principal, call) => {
      const { bucket, key, headers, xml } = call
      const parts = await readCompletedParts(xml)
      const expectedSize = sizeIn(headers)
      const customer = readS3Key(headers, principal)
      const completed = await completeMultipartUpload(services, principal, {
        bucket,
        key,
        uploadId: uploadIdIn(call),
        parts,
        precondition: readPrecondition(headers),
        customerKey: customer?.key,
        ...readClaimsOfWhole(headers, parts.length),
        ...(expectedSize === null ? {} : { expectedSize }),
      })
      return xmlAnswer(
        element(
          'CompleteMultipartUploadResult',
          element('Location', objectLocation(services.config, call)),
          element('Bucket', bucket),
          element('Key', key),
          etagElement(completed.object.etag),
          ...objectChecksumElements(completed.object),
        ),
        {
          ...(completed.object.customerSeal === undefined || customer !== undefined
            ? encryptionHeaders(customer)
            : {}),
          ...s3VersionHeaders(completed.bucket, completed.object),
        },
      )
    },
  ),

  s3Route(
    abortMultipartUpload,
    {
      action: 'AbortMultipartUpload',
      method: 'DELETE',
      level: 'object',
      marks: [UPLOAD],
      status: 204,
    },
    async (services, principal, call) => {
      const { bucket, key } = call
      const upload = { bucket, key, uploadId: uploadIdIn(call) }
      const { existed } = await abortMultipartUpload(services, principal, upload)
      if (!existed) throw noSuchUpload(upload)
      return { kind: 'empty' }
    },
  ),

  s3Route(
    listMultipartUploads,
    {
      action: 'ListMultipartUploads',
      method: 'GET',
      level: 'bucket',
      marks: ['uploads'],
      parameters: ['prefix', 'delimiter', 'key-marker', 'upload-id-marker', 'max-uploads', 'encoding-type'],
    },
    async (services, principal, { bucket, query }) => {
      const { prefix = '', delimiter = '' } = query
      const { 'key-marker': keyMarker = '', 'upload-id-marker': uploadIdMarker = '' } = query
      const count = readCount(query, 'max-uploads')
      const encoding = readEncoding(query)
      const asked = { bucket, prefix, delimiter, keyMarker, uploadIdMarker, maxUploads: count.limit }
      const found = await listMultipartUploads(services, principal, asked)
      const { uploads, commonPrefixes, next } = count.isNothing ? NO_UPLOADS : found
      const { text } = encoding
      return xmlAnswer(
        element(
          'ListMultipartUploadsResult',
          element('Bucket', bucket),
          element('KeyMarker', text(keyMarker)),
          element('UploadIdMarker', uploadIdMarker),
          next !== null && element('NextKeyMarker', text(next.keyMarker)),
          next !== null && element('NextUploadIdMarker', next.uploadIdMarker),
          delimiter !== '' && element('Delimiter', text(delimiter)),
          element('Prefix', text(prefix)),
          encoding.type,
          element('MaxUploads', count.max),
          element('IsTruncated', `${next !== null}`),
          ...uploads.map((upload) => uploadElement(upload, encoding, principal.tenantId)),
          prefixElements(commonPrefixes, encoding),
        ),
      )
    },
  ),
]

const NO_UPLOADS = { uploads: [], commonPrefixes: [], next: null }

/** '' names no upload. */
export function uploadIdIn({ query }: Pick<S3Call, 'query'>): string {
  return query[UPLOAD] ?? ''
}

/** What the client expects the object to have; null: it does not say. Throws S3Fault InvalidArgument. */
function sizeIn(headers: IncomingHttpHeaders): number | null {
  const text = headerText(headers, OBJECT_SIZE)
  if (text === undefined) return null
  if (/^\d{1,15}$/.test(text)) return Number(text)
  const elements = { ArgumentName: OBJECT_SIZE, ArgumentValue: text.slice(0, 80) }
  throw new S3Fault('InvalidArgument', `${OBJECT_SIZE} is no whole number of bytes`, { elements })
}
