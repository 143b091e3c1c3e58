/**
 * What a signed URL lets its holder do, and the decision whether an operation is part of that.
 *
 * Owns: the terms of a URL. Knows nothing of: how they are written, what the access key behind it may do; both checks must
 * pass. Rule: a URL grants nothing that it does not name. [native: Signed URL token]
 */
import { Refusal } from '../../base/refusal.ts'
import type { ChecksumAlgorithm } from '../../state-machine/bodies/records.ts'
import type { AccessKeyPrincipal } from './principal.ts'
import type { Target } from './target.ts'

export type SignedMethod = 'GET' | 'PUT'

/** Null: not said. */
export interface SignedUrlTerms {
  readonly method: SignedMethod
  readonly bucket: string
  /** Of these two one is null. */
  readonly key: string | null
  readonly keyPrefix: string | null
  /** What is stored, regardless of what the upload says. */
  readonly contentType: string | null
  readonly contentLengthMax: number | null
  /** Both or none. */
  readonly checksumAlg: ChecksumAlgorithm | null
  /** base64 */
  readonly checksumVal: string | null
  readonly idempotencyKey: string | null
  readonly responseContentType: string | null
  readonly responseContentDisposition: string | null
  /** Only for the audit log. */
  readonly reason: string | null
}

export interface SignedUrl extends SignedUrlTerms {
  /** Names this URL; no secret. */
  readonly jti: string
}

/** An access key that acts through one URL: its scopes are those that it has now. */
export interface SignedUrlPrincipal extends AccessKeyPrincipal {
  readonly signedUrl: SignedUrl
}

/** Of an operation: which signed URLs cover it. */
export interface UrlCoverage {
  /** Names the operation in the API documents, the audit log, the metrics and in refusals. */
  readonly id: string
  /** The method of the URLs that cover it; absent: no URL does. `isRequired`: a bearer token does not reach it. */
  readonly coveredByUrl?: { readonly method: SignedMethod; readonly isRequired: boolean }
}

/** `url` null: the caller came with a bearer token. Throws Refusal signed_url_mismatch, access_denied. */
export function refuseBeyondUrl(url: SignedUrl | null, operation: UrlCoverage, target: Target): void {
  const { id, coveredByUrl } = operation
  if (url === null) {
    if (coveredByUrl?.isRequired === true)
      throw new Refusal('access_denied', `Operation '${id}' needs a signed URL`)
    return
  }
  if (coveredByUrl?.method !== url.method)
    throw new Refusal('signed_url_mismatch', `This signed URL is for ${url.method} and for nothing else`)
  if (target.bucket !== url.bucket || target.key === undefined || !coversKey(url, target.key))
    throw new Refusal('signed_url_mismatch', 'This signed URL is for another bucket or object key')
}

function coversKey({ key, keyPrefix }: SignedUrlTerms, wanted: string): boolean {
  return keyPrefix === null ? wanted === key : wanted.startsWith(keyPrefix)
}
