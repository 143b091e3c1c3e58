/**
 * Why a signature proves nothing: a code of S3 and one sentence.
 *
 * Rule: the sentence never contains a secret or the signature that would have been right.
 */
export type SignatureFaultCode =
  | 'AccessDenied'
  | 'AuthorizationHeaderMalformed'
  | 'AuthorizationQueryParametersError'
  | 'IncompleteBody'
  | 'InvalidAccessKeyId'
  | 'InvalidArgument'
  | 'InvalidRequest'
  | 'RequestTimeTooSkewed'
  | 'SignatureDoesNotMatch'
  | 'XAmzContentSHA256Mismatch'

export class SignatureFault extends Error {
  readonly code: SignatureFaultCode
  /** What the service signed, for clients that compare it with theirs; only for `SignatureDoesNotMatch`. */
  readonly canonicalRequest: string | null

  constructor(code: SignatureFaultCode, message: string, canonicalRequest: string | null = null) {
    super(message)
    this.name = 'SignatureFault'
    this.code = code
    this.canonicalRequest = canonicalRequest
  }
}
