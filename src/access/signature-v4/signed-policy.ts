/**
 * Who claims to have signed the policy of a browser form. [AWS S3 API reference: Authenticating Requests: Browser-Based Uploads Using POST]
 *
 * Owns: the fields of a form that are its signature. Knows nothing of: what the policy says. Rule: as with a request, reading comes before proving.
 */
import { SignatureFault } from './signature-fault.ts'
import { ALGORITHM, type CredentialScope, credentialOf, instantOf, signatureOf } from './signed-request.ts'

export interface SignedPolicy {
  readonly credential: CredentialScope
  /** Milliseconds since 1970. */
  readonly signedAtMs: number
  /** base64, as sent: what is signed. */
  readonly policy: string
  /** 64 hexadecimal digits. */
  readonly signature: string
}

/** `fields`: lower-case name -> text. Throws SignatureFault, AccessDenied where the form is not signed at all. */
export function readSignedPolicy(fields: ReadonlyMap<string, string>): SignedPolicy {
  if (fields.has('awsaccesskeyid'))
    throw new SignatureFault(
      'InvalidRequest',
      'The form is signed with version 2; sign it with AWS4-HMAC-SHA256 (in many clients: s3v4)',
    )
  const policy = fields.get('policy')
  if (policy === undefined && !fields.has('x-amz-signature'))
    throw new SignatureFault('AccessDenied', 'The form has no signed policy, and there is no public access')
  const field = (name: string): string => {
    const value = fields.get(name)
    if (value !== undefined) return value
    throw malformed(`it has no field ${name} before the file`)
  }
  if (field('x-amz-algorithm') !== ALGORITHM) throw malformed(`x-amz-algorithm is not ${ALGORITHM}`)
  const credential = credentialOf(field('x-amz-credential'), malformed)
  const timestamp = field('x-amz-date')
  const signedAtMs = instantOf(timestamp, malformed)
  if (!timestamp.startsWith(credential.date))
    throw malformed(`the day of x-amz-credential, ${credential.date}, is not that of x-amz-date`)
  const signature = signatureOf(field('x-amz-signature'), malformed)
  return { credential, signedAtMs, policy: field('policy'), signature }
}

const malformed = (why: string): SignatureFault =>
  new SignatureFault('InvalidArgument', `The signature of the form is malformed: ${why}`)
