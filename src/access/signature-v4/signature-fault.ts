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

/** What both sides sign, for clients that compare; a client knows all of it. Octets as Latin-1 text. */
export interface ComparedSignature {
  readonly accessKeyId: string
  readonly stringToSign: string
  /** As the client sent it. */
  readonly signature: string
  readonly canonicalRequest: string
}

export class SignatureFault extends Error {
  readonly code: SignatureFaultCode
  /** Only of a request with `SignatureDoesNotMatch`. */
  readonly compared: ComparedSignature | null

  constructor(code: SignatureFaultCode, message: string, compared: ComparedSignature | null = null) {
    super(message)
    this.name = 'SignatureFault'
    this.code = code
    this.compared = compared
  }
}
