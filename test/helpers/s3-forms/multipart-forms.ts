/**
 * Multipart uploads, in S3.
 */
import type { ObjectAsk } from '../object-client.ts'
import {
  bodyOf,
  escaped,
  nothing,
  s3Headers,
  stored,
  text,
  type FormOf,
  type Place,
  type S3Form,
  unquoted,
} from './form.ts'

export const listUploads: FormOf = (_, { bucket }) => ({
  action: 'ListMultipartUploads',
  method: 'GET',
  path: `/${bucket}?uploads`,
  read: ({ xml }) => ({
    uploads: (xml?.childrenNamed('Upload') ?? []).map((one) => ({
      key: text(one, 'Key'),
      uploadId: text(one, 'UploadId'),
    })),
  }),
})

export const begin: FormOf = (ask, { bucket, key }) => ({
  action: 'CreateMultipartUpload',
  method: 'POST',
  path: `/${bucket}/${key}?uploads`,
  headers: s3Headers(ask),
  read: ({ xml }) => ({ uploadId: text(xml, 'UploadId') }),
})

export const uploadPart: FormOf = (ask, { bucket, key, uploadId, part }) => ({
  action: 'UploadPart',
  method: 'PUT',
  path: `/${bucket}/${key}?partNumber=${part}&uploadId=${uploadId}`,
  body: bodyOf<Uint8Array>(ask),
  read: ({ headers }) => ({ etag: unquoted(String(headers['etag'])) }),
})

export const listParts: FormOf = (_, { bucket, key, uploadId }) => ({
  action: 'ListParts',
  method: 'GET',
  path: `/${bucket}/${key}?uploadId=${uploadId}`,
  read: ({ xml }) => ({
    parts: (xml?.childrenNamed('Part') ?? []).map((one) => ({
      partNumber: Number(text(one, 'PartNumber')),
      etag: unquoted(text(one, 'ETag')),
      size: Number(text(one, 'Size')),
    })),
  }),
})

export function complete(ask: ObjectAsk, { bucket, key, uploadId }: Place): S3Form {
  const { parts } = bodyOf<{
    readonly parts: readonly { readonly partNumber: number; readonly etag: string }[]
  }>(ask)
  const elements = parts.map(
    ({ partNumber, etag }) =>
      `<Part><PartNumber>${partNumber}</PartNumber><ETag>"${escaped(etag)}"</ETag></Part>`,
  )
  return {
    action: 'CompleteMultipartUpload',
    method: 'POST',
    path: `/${bucket}/${key}?uploadId=${uploadId}`,
    headers: s3Headers(ask),
    body: `<CompleteMultipartUpload>${elements.join('')}</CompleteMultipartUpload>`,
    read: stored,
  }
}

export const abort: FormOf = (_, { bucket, key, uploadId }) => ({
  action: 'AbortMultipartUpload',
  method: 'DELETE',
  path: `/${bucket}/${key}?uploadId=${uploadId}`,
  read: nothing,
})
