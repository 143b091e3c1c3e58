/**
 * Signatures, version 4: the key of a day and region, and what is signed with it.
 *
 * Owns: the derivation and the comparison. Rule: comparisons take the same time for every wrong signature.
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { ALGORITHM, type CredentialScope } from './signed-request.ts'

const hmac = (key: string | Uint8Array, text: string): Buffer =>
  createHmac('sha256', key).update(text).digest()

export const sha256Hex = (bytes: string | Uint8Array): string =>
  createHash('sha256').update(bytes).digest('hex')

/** Good for all requests of this key on this day in this region: 32 bytes. */
export function signingKey(secretKey: string, { date, region }: CredentialScope): Buffer {
  const ofDay = hmac(`AWS4${secretKey}`, date)
  return hmac(hmac(hmac(ofDay, region), 's3'), 'aws4_request')
}

const scopeText = ({ date, region }: CredentialScope): string => `${date}/${region}/s3/aws4_request`

export interface Signing {
  readonly key: Uint8Array
  readonly credential: CredentialScope
  readonly timestamp: string
}

/** 64 hexadecimal digits. `canonical`: octets as Latin-1 text, as HTTP headers arrive. */
export function requestSignature(signing: Signing, canonical: string): string {
  return hmac(signing.key, stringToSign(signing, canonical)).toString('hex')
}

export function stringToSign({ credential, timestamp }: Signing, canonical: string): string {
  const hash = sha256Hex(Buffer.from(canonical, 'latin1'))
  return [ALGORITHM, timestamp, scopeText(credential), hash].join('\n')
}

/** Of one chunk of a body that is sent in signed chunks, or of its trailers. `hashes`: hexadecimal. */
export function chunkSignature(
  { key, credential, timestamp }: Signing,
  chunk: {
    readonly kind: 'PAYLOAD' | 'TRAILER'
    readonly previous: string
    readonly hashes: readonly string[]
  },
): string {
  const lines = [
    `${ALGORITHM}-${chunk.kind}`,
    timestamp,
    scopeText(credential),
    chunk.previous,
    ...chunk.hashes,
  ]
  return hmac(key, lines.join('\n')).toString('hex')
}

/** `policy`: base64 text. 64 hexadecimal digits. */
export const policySignature = (key: Uint8Array, policy: string): string => hmac(key, policy).toString('hex')

export function isSameSignature(one: string, other: string): boolean {
  const [left, right] = [Buffer.from(one, 'latin1'), Buffer.from(other, 'latin1')]
  return left.length === right.length && timingSafeEqual(left, right)
}
