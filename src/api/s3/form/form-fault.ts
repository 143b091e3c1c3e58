/**
 * Why a browser form is refused: a code of S3 and one sentence.
 */
export type FormFaultCode =
  | 'AccessDenied'
  | 'InvalidArgument'
  | 'InvalidPolicyDocument'
  | 'MalformedPOSTRequest'
  | 'MaxPostPreDataLengthExceededError'

export class FormFault extends Error {
  readonly code: FormFaultCode

  constructor(code: FormFaultCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'FormFault'
    this.code = code
  }
}
