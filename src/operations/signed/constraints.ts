/**
 * The constraints that a signed URL may carry: what each may be. [native: Signed-URL mint request body]
 *
 * Rule: every constraint that is accepted here can be carried out as it is when the URL is used, by any node: a value that becomes a
 * header fits into one, a value that is compared is in its one spelling.
 */
import type { SignedUrlTerms } from '../../access/base/signed-url.ts'
import { parseClaims } from '../../content/checksums.ts'
import { Refusal } from '../../base/refusal.ts'
import { checkContentType } from '../objects/description.ts'
import { checkIdempotencyKey } from '../objects/idempotency-key.ts'

export interface SignedUrlConstraints {
  readonly contentType?: string
  readonly contentLengthMax?: number
  readonly checksumAlg?: string
  readonly checksumVal?: string
  readonly idempotencyKey?: string
  readonly responseContentType?: string
  readonly responseContentDisposition?: string
  readonly reason?: string
}

/** Printable ASCII and Latin-1: no line ends, and every character is one byte of a header. */
export const HEADER_VALUE = /^[\x21-\x7e](?:[\x20-\x7e\xa0-\xff]{0,1022}[\x21-\x7e\xa0-\xff])?$/
export const REASON_CHARACTERS_MAX = 512

/** Throws Refusal invalid_request, checksum_malformed, checksum_unsupported. */
export function constraintsOf(
  given: SignedUrlConstraints,
): Omit<SignedUrlTerms, 'method' | 'bucket' | 'key' | 'keyPrefix'> {
  const { contentType, contentLengthMax, idempotencyKey, responseContentType, reason } = given
  if (reason !== undefined && (reason === '' || reason.length > REASON_CHARACTERS_MAX))
    throw new Refusal('invalid_request', `"reason" takes 1 to ${REASON_CHARACTERS_MAX} characters`)
  return {
    contentType: contentType === undefined ? null : checkContentType(contentType),
    contentLengthMax: contentLengthMax ?? null,
    ...checksumOf(given),
    idempotencyKey:
      idempotencyKey === undefined ? null : checkIdempotencyKey('idempotencyKey', idempotencyKey),
    responseContentType: responseContentType === undefined ? null : checkContentType(responseContentType),
    responseContentDisposition: dispositionOf(given),
    reason: reason ?? null,
  }
}

function checksumOf({
  checksumAlg,
  checksumVal,
}: SignedUrlConstraints): Pick<SignedUrlTerms, 'checksumAlg' | 'checksumVal'> {
  if (checksumAlg === undefined && checksumVal === undefined) return { checksumAlg: null, checksumVal: null }
  if (checksumAlg === undefined || checksumVal === undefined) {
    const [given, missing] = checksumAlg === undefined ? ['Val', 'Alg'] : ['Alg', 'Val']
    throw new Refusal(
      'invalid_request',
      `"checksum${given}" is given without "checksum${missing}": give both`,
    )
  }
  const [algorithm] = parseClaims([[checksumAlg, checksumVal]]).keys()
  return { checksumAlg: algorithm ?? null, checksumVal }
}

function dispositionOf({ responseContentDisposition: given }: SignedUrlConstraints): string | null {
  if (given === undefined) return null
  if (HEADER_VALUE.test(given)) return given
  throw new Refusal(
    'invalid_request',
    '"responseContentDisposition" takes 1 to 1024 printable characters of Latin-1; write others as in filename*=UTF-8\'\'%E2%82%AC',
  )
}
