/**
 * Signs a request to another store, version 4, in the header. [AWS S3 API reference: Signature Calculations for the Authorization Header]
 *
 * Owns: which headers are signed: all. Knows nothing of: connections. Rule: the hash of the body is part of what is signed; without one it is
 * that of an empty body.
 */
import { canonicalRequest } from '../access/signature-v4/canonical-request.ts'
import { ALGORITHM } from '../access/signature-v4/signed-request.ts'
import { requestSignature, sha256Hex, signingKey } from '../access/signature-v4/signing-key.ts'
import type { Place } from './place.ts'

const NO_BODY = sha256Hex('')

export interface S3Credentials {
  readonly accessKeyId: string
  readonly secretKey: string
  /** Of temporary credentials; null: none. */
  readonly sessionToken: string | null
}

export interface ToSign {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE'
  readonly place: Place
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>
  /** Milliseconds since 1970. */
  readonly at: number
  readonly region: string
  /** SHA-256 of the body, as lower-case hex. Absent: there is no body. */
  readonly bodyHash?: string
}

/** All headers to send. */
export function signedHeaders(
  { accessKeyId, secretKey, sessionToken }: S3Credentials,
  { method, place, headers, at, region, bodyHash = NO_BODY }: ToSign,
): Record<string, string> {
  const timestamp = new Date(at).toISOString().replace(/[-:]|\.\d+/g, '')
  const signed: Record<string, string> = {
    ...headers,
    host: place.host,
    'x-amz-content-sha256': bodyHash,
    'x-amz-date': timestamp,
    ...(sessionToken === null ? {} : { 'x-amz-security-token': sessionToken }),
  }
  const names = Object.keys(signed).sort()
  const canonical = canonicalRequest({
    request: { method, path: place.path, query: place.query, headers: Object.entries(signed) },
    signedHeaders: names,
    payload: bodyHash,
  })
  const credential = { accessKeyId, date: timestamp.slice(0, 8), region }
  const key = signingKey(secretKey, credential)
  const signature = requestSignature({ key, credential, timestamp }, canonical)
  const scope = `${accessKeyId}/${credential.date}/${region}/s3/aws4_request`
  return {
    ...signed,
    authorization: `${ALGORITHM} Credential=${scope}, SignedHeaders=${names.join(';')}, Signature=${signature}`,
  }
}
