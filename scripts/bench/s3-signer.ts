/**
 * Signs requests of the benchmark for the S3 API, at little cost: one signing key for a day, and no hash of the body.
 */
import { canonicalRequest } from '../../src/access/signature-v4/canonical-request.ts'
import { UNSIGNED_PAYLOAD } from '../../src/access/signature-v4/signed-request.ts'
import { requestSignature, signingKey } from '../../src/access/signature-v4/signing-key.ts'
import type { BenchTarget } from './options.ts'

const REGION = 'us-east-1'
const SIGNED_HEADERS = ['host', 'x-amz-content-sha256', 'x-amz-date']

export class S3Signer {
  readonly #target: Pick<BenchTarget, 'accessKeyId' | 'secretKey'>
  #key: { readonly day: string; readonly bytes: Uint8Array } = { day: '', bytes: new Uint8Array(0) }

  constructor(target: Pick<BenchTarget, 'accessKeyId' | 'secretKey'>) {
    this.#target = target
  }

  headers(method: string, path: string, host: string, query = ''): Record<string, string> {
    const timestamp = new Date().toISOString().replace(/[-:]|\.\d+/g, '')
    const { accessKeyId, secretKey } = this.#target
    const credential = { accessKeyId, date: timestamp.slice(0, 8), region: REGION }
    if (this.#key.day !== credential.date)
      this.#key = { day: credential.date, bytes: signingKey(secretKey, credential) }
    const headers = { host, 'x-amz-content-sha256': UNSIGNED_PAYLOAD, 'x-amz-date': timestamp }
    const request = { method, path, query, headers: Object.entries(headers) }
    const signed = { request, signedHeaders: SIGNED_HEADERS, payload: UNSIGNED_PAYLOAD }
    const canonical = canonicalRequest(signed)
    const signature = requestSignature({ key: this.#key.bytes, credential, timestamp }, canonical)
    const scope = `${accessKeyId}/${credential.date}/${REGION}/s3/aws4_request`
    const authorization = `AWS4-HMAC-SHA256 Credential=${scope}, SignedHeaders=${SIGNED_HEADERS.join(';')}, Signature=${signature}`
    return { ...headers, authorization }
  }
}
