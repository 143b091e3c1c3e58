/**
 * Whether a signed request is good: its time, its payload, its signature.
 *
 * Owns: these decisions. Knows nothing of: where secrets are, what the key may do; pure, time is passed in.
 */
import { canonicalRequest } from './canonical-request.ts'
import { type SignedRequest, UNSIGNED_PAYLOAD } from './signed-request.ts'
import { SignatureFault } from './signature-fault.ts'
import {
  isSameSignature,
  policySignature,
  requestSignature,
  type Signing,
  stringToSign,
} from './signing-key.ts'

/** What S3 tolerates between the clocks of client and service. */
const SKEW_MS_MAX = 15 * 60_000
const HASH = /^[0-9a-f]{64}$/

/** How the body is proved. */
export type PayloadProof =
  /** Its SHA-256 is in the signed request. Hexadecimal. */
  | { readonly kind: 'hash'; readonly sha256: string }
  | { readonly kind: 'unsigned' }
  /** Sent in chunks: each with a signature or not, followed by trailers or not. */
  | { readonly kind: 'chunks'; readonly areSigned: boolean; readonly hasTrailers: boolean }

const STREAMING: Readonly<Record<string, PayloadProof>> = {
  'STREAMING-AWS4-HMAC-SHA256-PAYLOAD': { kind: 'chunks', areSigned: true, hasTrailers: false },
  'STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER': { kind: 'chunks', areSigned: true, hasTrailers: true },
  'STREAMING-UNSIGNED-PAYLOAD-TRAILER': { kind: 'chunks', areSigned: false, hasTrailers: true },
}

/** Throws SignatureFault. */
export function payloadProof({ payload }: SignedRequest): PayloadProof {
  if (HASH.test(payload)) return { kind: 'hash', sha256: payload }
  if (payload === UNSIGNED_PAYLOAD) return { kind: 'unsigned' }
  const streaming = Object.hasOwn(STREAMING, payload) ? STREAMING[payload] : undefined
  if (streaming !== undefined) return streaming
  const known = [UNSIGNED_PAYLOAD, ...Object.keys(STREAMING)].join(', ')
  throw new SignatureFault(
    'InvalidArgument',
    `x-amz-content-sha256 is neither 64 lower-case hexadecimal digits nor one of ${known}`,
  )
}

/** `expiresSecondsMax`: of presigned URLs. Throws SignatureFault. */
export function checkTime(
  { expiresSeconds, signedAtMs, timestamp }: SignedRequest,
  { nowMs, expiresSecondsMax }: { readonly nowMs: number; readonly expiresSecondsMax: number },
): void {
  if (expiresSeconds === null) {
    if (Math.abs(nowMs - signedAtMs) <= SKEW_MS_MAX) return
    throw new SignatureFault(
      'RequestTimeTooSkewed',
      `The request was signed at ${timestamp}, more than 15 minutes from the time here, ${new Date(nowMs).toISOString()}`,
    )
  }
  if (expiresSeconds > expiresSecondsMax)
    throw new SignatureFault(
      'AuthorizationQueryParametersError',
      `X-Amz-Expires is ${expiresSeconds}, at most ${expiresSecondsMax} seconds are allowed`,
    )
  if (signedAtMs - nowMs > SKEW_MS_MAX)
    throw new SignatureFault('AccessDenied', `The URL is not valid yet: it was signed at ${timestamp}`)
  if (nowMs - signedAtMs > expiresSeconds * 1000)
    throw new SignatureFault('AccessDenied', `The URL expired ${expiresSeconds} s after ${timestamp}`)
}

/** Throws SignatureFault `SignatureDoesNotMatch` with what is to be compared. */
export function checkSignature(signed: SignedRequest, key: Uint8Array): void {
  const { credential, signature } = signed
  const canonical = canonicalRequest(signed)
  const signing = signingOf(signed, key)
  if (isSameSignature(requestSignature(signing, canonical), signature)) return
  throw new SignatureFault(
    'SignatureDoesNotMatch',
    'The signature does not match the one calculated here; check the secret key, and compare the canonical request',
    {
      accessKeyId: credential.accessKeyId,
      stringToSign: stringToSign(signing, canonical),
      signature,
      canonicalRequest: canonical,
    },
  )
}

/** Of the policy of a browser form: what is signed is its base64 text. Throws SignatureFault `SignatureDoesNotMatch`. */
export function checkPolicySignature(policy: string, signature: string, key: Uint8Array): void {
  if (isSameSignature(policySignature(key, policy), signature)) return
  throw new SignatureFault(
    'SignatureDoesNotMatch',
    'The signature of the policy does not match the one calculated here; check the secret key',
  )
}

export const signingOf = ({ credential, timestamp }: SignedRequest, key: Uint8Array): Signing => ({
  key,
  credential,
  timestamp,
})
