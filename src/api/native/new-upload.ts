/**
 * What a client says when it begins a multipart upload, in a JSON body or in headers. [decisions 6]
 *
 * Rule: nothing is taken from both places, and nothing given is left out in silence.
 */
import type { IncomingHttpHeaders } from 'node:http'
import Type, { type Static } from 'typebox'
import type { HeaderNote } from '../route.ts'
import { readMetadata } from './metadata-headers.ts'
import { readContentType } from './upload-headers.ts'

export const NewUpload = Type.Object(
  {
    contentType: Type.Optional(Type.String()),
    metadata: Type.Optional(Type.Record(Type.String(), Type.String())),
    checksumAlg: Type.Optional(Type.Enum(['CRC32', 'CRC32C', 'CRC64NVME', 'SHA1', 'SHA256'])),
  },
  { additionalProperties: false },
)

export const NEW_UPLOAD_HEADERS: readonly HeaderNote[] = [
  { name: 'X-Service-Meta-<name>', description: 'User metadata' },
]

export function readNewUpload(headers: IncomingHttpHeaders, body: Static<typeof NewUpload>) {
  return {
    contentType: body.contentType ?? readContentType(hasBody(headers) ? {} : headers),
    metadata: body.metadata ?? readMetadata(headers),
    checksumAlg: body.checksumAlg ?? null,
    tags: {},
    retention: null,
    legalHold: false,
  }
}

/** Then Content-Type speaks of the body, and not of the object. */
function hasBody(headers: IncomingHttpHeaders): boolean {
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0'
}
