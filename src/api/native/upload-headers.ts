/**
 * Reads the headers of an upload. [native: Upload request headers]
 *
 * Rule: a header that would change what a write means, and that is not carried out, is refused by name: a lock that was
 * misspelt and ignored in silence is lost data.
 */
import type { IncomingHttpHeaders } from 'node:http'
import { nearestName } from '../../config/nearest.ts'
import { type Claims, joinClaims, type TrailingClaims } from '../../content/checksums.ts'
import { checkContentType, DEFAULT_CONTENT_TYPE } from '../../operations/objects/description.ts'
import {
  checkIdempotencyKey,
  IDEMPOTENCY_KEY as IDEMPOTENCY_KEY_FORM,
} from '../../operations/objects/idempotency-key.ts'
import { Refusal } from '../../base/refusal.ts'
import { DIGEST_HEADER_NOTES, readDigestHeaders } from '../content-digests.ts'
import { OWN_KEY } from '../customer-key-headers.ts'
import { headerText } from '../header-text.ts'
import type { HeaderNote } from '../route.ts'
import { CHECKSUM_PREFIX, checksumClaims, readTrailingClaims } from './trailing-claims.ts'

const IDEMPOTENCY_KEYS = ['idempotency-key', 'x-service-idempotency-key'] as const
const METADATA_PREFIX = 'x-service-meta-'
const OWN_PREFIX = 'x-service-'
const OWN = [
  'x-service-idempotency-key',
  'x-service-tagging',
  'x-service-retention-mode',
  'x-service-retain-until',
  'x-service-legal-hold',
  ...Object.values(OWN_KEY),
]

const OF_WHOLE_OBJECTS = [
  'content-range',
  'if-match',
  'if-none-match',
  'if-modified-since',
  'if-unmodified-since',
]

export const CHECKSUM_HEADER: HeaderNote = {
  name: 'X-Service-Checksum-<ALG>',
  description: 'base64 digest to verify: CRC32, CRC32C, CRC64NVME, SHA1 or SHA256',
}

/** Every way to claim a digest of a body of bytes. */
export const CLAIM_HEADERS: readonly HeaderNote[] = [CHECKSUM_HEADER, ...DIGEST_HEADER_NOTES]

export const IDEMPOTENCY_KEY: HeaderNote = {
  name: 'Idempotency-Key',
  description: '1 to 255 printable ASCII characters',
  schema: { pattern: IDEMPOTENCY_KEY_FORM.source },
}

/**
 * For the steps of a multipart upload: what belongs to another step, or to none, is refused by name. An idempotency key is
 * neither needed nor refused: a part or a completion may be repeated as it is, and an upload that was started twice ends by itself.
 */
export function refuseForeignHeaders(headers: IncomingHttpHeaders, taken: RegExp, hint: string): void {
  const isMeant = (name: string): boolean => name.startsWith(OWN_PREFIX) || OF_WHOLE_OBJECTS.includes(name)
  const isTaken = (name: string): boolean => taken.test(name) || name === 'x-service-idempotency-key'
  const name = Object.keys(headers).find((given) => isMeant(given) && !isTaken(given))
  if (name !== undefined)
    throw new Refusal('invalid_request', `The header ${name.slice(0, 80)} is not taken here. ${hint}`)
}

export function refuseUnknownUploadHeaders(headers: IncomingHttpHeaders): void {
  if (headers['content-range'] !== undefined)
    throw new Refusal('invalid_request', 'An upload replaces the whole object: send it without Content-Range')
  for (const name of Object.keys(headers)) {
    if (!name.startsWith(OWN_PREFIX) || OWN.includes(name)) continue
    if (name.startsWith(CHECKSUM_PREFIX) || name.startsWith(METADATA_PREFIX)) continue
    const meant = nearestName(name, OWN)
    const hint = meant === undefined ? `an upload takes ${OWN.join(', ')}` : `did you mean ${meant}?`
    throw new Refusal('invalid_request', `The header ${name.slice(0, 80)} is unknown here: ${hint}`)
  }
}

export function readContentType(headers: IncomingHttpHeaders): string {
  const type = headers['content-type']?.trim() ?? ''
  return type === '' ? DEFAULT_CONTENT_TYPE : checkContentType(type)
}

/** What a client claims of the bytes that it sends. */
export interface BodyClaims {
  readonly claimed: Claims
  readonly trailing: TrailingClaims
}

/** `trailers`: asked for after the end of the body. Throws Refusal, as for each header that claims a digest. */
export function readBodyClaims(
  headers: IncomingHttpHeaders,
  trailers: () => IncomingHttpHeaders,
): BodyClaims {
  return {
    claimed: joinClaims(checksumClaims(headers), readDigestHeaders(headers)),
    trailing: readTrailingClaims(headers, trailers),
  }
}

/** Two names of one header: both may come, if they say the same. Throws Refusal invalid_request. */
export function readIdempotencyKey(headers: IncomingHttpHeaders): string | null {
  const given = IDEMPOTENCY_KEYS.map((name) => headerText(headers, name)).filter((key) => key !== undefined)
  const [key, other = key] = given
  if (key === undefined) return null
  if (key !== other)
    throw new Refusal(
      'invalid_request',
      'Idempotency-Key and X-Service-Idempotency-Key differ: send one of them',
    )
  return checkIdempotencyKey('Idempotency-Key', key)
}

/** null for a body in chunks. A request that announces neither length nor chunks has forgotten its body. */
export function declaredLength(headers: IncomingHttpHeaders): number | null {
  if (headers['transfer-encoding'] !== undefined) return null
  if (headers['content-length'] !== undefined) return Number(headers['content-length'])
  throw new Refusal('length_required', 'An upload needs Content-Length, or Transfer-Encoding: chunked')
}
