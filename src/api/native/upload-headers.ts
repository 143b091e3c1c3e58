/**
 * Reads the headers of an upload. [native: Upload request headers]
 *
 * Rule: a header that would change what a write means, and that this version does not carry out, is refused by name.
 * A precondition that is ignored in silence is a lost update.
 */
import type { IncomingHttpHeaders } from 'node:http'
import { type Claims, parseClaims } from '../../content/checksums.ts'
import { Refusal } from '../../refusal.ts'
import { headerText } from '../header-text.ts'
import type { HeaderNote } from '../route.ts'

const DEFAULT_CONTENT_TYPE = 'application/octet-stream'
const CONTENT_TYPE_CHARACTERS_MAX = 256
const CHECKSUM_PREFIX = 'x-service-checksum-'

const CONDITIONS = ['If-Match', 'If-None-Match', 'If-Modified-Since', 'If-Unmodified-Since'] as const
const PUT_LATER = [
  ...CONDITIONS,
  'Idempotency-Key',
  'X-Service-Idempotency-Key',
  'X-Service-Tagging',
  'X-Service-Retention-Mode',
  'X-Service-Retain-Until',
  'X-Service-Legal-Hold',
] as const

const FOREIGN_TO_PARTS: readonly string[] = [...PUT_LATER, 'Content-Range'].map((name) => name.toLowerCase())

export const CHECKSUM_HEADER: HeaderNote = {
  name: 'X-Service-Checksum-<ALG>',
  description: 'base64 digest to verify: CRC32, CRC32C, CRC64NVME, SHA1 or SHA256',
}

export function refuseUnservedUploadHeaders(headers: IncomingHttpHeaders): void {
  refuseAny(headers, PUT_LATER)
  if (headers['content-range'] !== undefined) {
    throw new Refusal('invalid_request', 'An upload replaces the whole object: send it without Content-Range')
  }
}

/** What an object has is said when its upload is begun, and conditions when it is completed. */
export function refusePartHeaders(headers: IncomingHttpHeaders): void {
  const isForeign = (name: string): boolean =>
    FOREIGN_TO_PARTS.includes(name) || name.startsWith('x-service-meta-')
  const name = Object.keys(headers).find(isForeign)
  if (name !== undefined)
    throw new Refusal('invalid_request', `A part does not take the header "${name}": give it with its upload`)
}

export function refuseUnservedConditions(headers: IncomingHttpHeaders): void {
  refuseAny(headers, CONDITIONS)
}

export function readContentType(headers: IncomingHttpHeaders): string {
  const type = headers['content-type']?.trim() ?? ''
  if (type === '') return DEFAULT_CONTENT_TYPE
  if (type.length > CONTENT_TYPE_CHARACTERS_MAX || !/^[\x20-\x7e]+$/.test(type)) {
    throw new Refusal(
      'invalid_request',
      `Content-Type takes up to ${CONTENT_TYPE_CHARACTERS_MAX} printable ASCII characters`,
    )
  }
  return type
}

export function readClaims(headers: IncomingHttpHeaders): Claims {
  const claims = Object.keys(headers)
    .filter((name) => name.startsWith(CHECKSUM_PREFIX))
    .map((name) => {
      const algorithm = name.slice(CHECKSUM_PREFIX.length).toUpperCase()
      return [algorithm, (headerText(headers, name) ?? '').trim()] as const
    })
  return parseClaims(claims)
}

/** null for a body in chunks. A request that announces neither length nor chunks has forgotten its body. */
export function declaredLength(headers: IncomingHttpHeaders): number | null {
  if (headers['transfer-encoding'] !== undefined) return null
  if (headers['content-length'] !== undefined) return Number(headers['content-length'])
  throw new Refusal('length_required', 'An upload needs Content-Length, or Transfer-Encoding: chunked')
}

function refuseAny(headers: IncomingHttpHeaders, names: readonly string[]): void {
  const name = names.find((candidate) => headers[candidate.toLowerCase()] !== undefined)
  if (name !== undefined) {
    throw new Refusal(
      'not_implemented',
      `The header ${name} is not supported here yet; it is refused rather than ignored`,
    )
  }
}
