/**
 * Parts of multipart uploads in the S3 API: send one, copy one, list them. No rules here. [AWS S3 API reference: UploadPart, UploadPartCopy,
 * ListParts]
 */
import { listParts } from '../../../operations/multipart/list-parts.ts'
import { uploadPart } from '../../../operations/multipart/upload-part.ts'
import { uploadPartCopy } from '../../../operations/multipart/upload-part-copy.ts'
import { timeText } from '../../wire.ts'
import {
  COPY_SOURCE,
  readCopySource,
  readSourceConditions,
  readSourceRange,
  SOURCE_HEADERS,
  SOURCE_RANGE,
} from '../objects/copy-headers.ts'
import { readCount, readEncoding } from '../listings/listing-query.ts'
import { etagElement, STORAGE_CLASS } from '../listings/listing-view.ts'
import { checksumElements, uploadChecksumElements } from '../objects/checksum-elements.ts'
import { partElement } from './multipart-view.ts'
import { uploadIdIn } from './multipart-routes.ts'
import { CUSTOMER_KEY, encryptionHeaders, readS3Key, readS3SourceKey } from '../base/s3-encryption.ts'
import { checksumHeaders, sourceVersionHeaders } from '../objects/object-headers.ts'
import { S3Fault } from '../base/s3-errors.ts'
import { LATE_NOTE, type S3Call, type S3Route, s3Route } from '../base/s3-route.ts'
import { ownerElement, wholeNumber, xmlAnswer } from '../base/xml-answers.ts'
import { element } from '../xml/write-xml.ts'

const MARKS = ['partNumber', 'uploadId'] as const

export const partRoutes: readonly S3Route[] = [
  s3Route(
    uploadPart,
    {
      action: 'UploadPart',
      method: 'PUT',
      level: 'object',
      marks: MARKS,
      headers: CUSTOMER_KEY,
      body: { kind: 'bytes' },
    },
    async (services, principal, call) => {
      const { bucket, key, bytes, signal } = call
      const { source, length, claimed, trailing } = bytes
      if (length === null)
        throw new S3Fault('MissingContentLength', 'A part needs Content-Length, or a body in signed chunks')
      const customer = readS3Key(call.headers, principal)
      const part = await uploadPart(services, principal, {
        bucket,
        key,
        ...placeOf(call),
        customerKey: customer?.key,
        claimed,
        trailing,
        etag: 'md5',
        expectedSize: length,
        source,
        signal,
      })
      const { 'x-amz-checksum-type': _, ...checksums } = checksumHeaders(part)
      return {
        kind: 'empty',
        headers: { etag: `"${part.etag}"`, ...encryptionHeaders(customer), ...checksums },
      }
    },
  ),

  s3Route(
    uploadPartCopy,
    {
      action: 'UploadPartCopy',
      method: 'PUT',
      level: 'object',
      marks: MARKS,
      markHeader: COPY_SOURCE,
      headers: [...SOURCE_HEADERS, SOURCE_RANGE, ...CUSTOMER_KEY],
      isUpload: true,
      isSlow: true,
      note: `The bytes are read, because the ETag is their MD5; what the tenant has already is not stored again. ${LATE_NOTE}`,
    },
    async (services, principal, call) => {
      const { bucket, key, headers, inTurns, signal } = call
      const customer = readS3Key(headers, principal)
      const customerKey = readS3SourceKey(headers, principal)?.key
      const { part, source } = await uploadPartCopy(services, principal, {
        bucket,
        key,
        ...placeOf(call),
        customerKey: customer?.key,
        source: { ...readCopySource(headers), customerKey },
        conditions: readSourceConditions(headers),
        range: readSourceRange(headers),
        inTurns,
        signal,
      })
      return xmlAnswer(
        element(
          'CopyPartResult',
          element('LastModified', timeText(part.lastModified)),
          etagElement(part.etag),
          ...checksumElements(part.checksums),
        ),
        { ...encryptionHeaders(customer), ...sourceVersionHeaders(source) },
      )
    },
  ),

  s3Route(
    listParts,
    {
      action: 'ListParts',
      method: 'GET',
      level: 'object',
      marks: ['uploadId'],
      parameters: ['max-parts', 'part-number-marker', 'encoding-type'],
      headers: CUSTOMER_KEY,
    },
    async (services, principal, call) => {
      const { bucket, key, query } = call
      const count = readCount(query, 'max-parts')
      const encoding = readEncoding(query)
      const asked = {
        bucket,
        key,
        uploadId: uploadIdIn(call),
        maxParts: count.limit,
        partNumberMarker: wholeNumber(query, 'part-number-marker'),
      }
      const page = await listParts(services, principal, asked)
      const { upload, partNumberMarker } = page
      const { parts, next } = count.isNothing ? { parts: [], next: null } : page
      return xmlAnswer(
        element(
          'ListPartsResult',
          element('Bucket', bucket),
          element('Key', encoding.text(key)),
          encoding.type,
          element('UploadId', upload.uploadId),
          ownerElement('Initiator', principal.tenantId),
          ownerElement('Owner', principal.tenantId),
          element('StorageClass', STORAGE_CLASS),
          element('PartNumberMarker', partNumberMarker),
          element('NextPartNumberMarker', parts.at(-1)?.partNumber ?? 0),
          element('MaxParts', count.max),
          element('IsTruncated', `${next !== null}`),
          ...uploadChecksumElements(upload),
          ...parts.map(partElement),
        ),
      )
    },
  ),
]

/** Which numbers there are is known to the operation. Throws S3Fault InvalidArgument. */
function placeOf(call: S3Call): { readonly uploadId: string; readonly partNumber: number } {
  const partNumber = wholeNumber(call.query, 'partNumber')
  if (partNumber !== undefined) return { uploadId: uploadIdIn(call), partNumber }
  throw new S3Fault(
    'InvalidArgument',
    'The parameter partNumber is empty: expected a whole number from 1 to 10000',
  )
}
