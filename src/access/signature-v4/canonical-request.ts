/**
 * The canonical form of a request, which both sides sign. [AWS S3 API reference: Signature Calculations for the Authorization Header]
 *
 * Owns: encoding and order. Knows nothing of: keys. Rule: path and query are decoded and encoded again, so that each spelling of the same
 * octets is signed alike; S3 encodes a path once, and does not shorten `.`, `..` and `//`.
 */
import { type SignedRequest, valuesOf } from './signed-request.ts'

const UNRESERVED = /[A-Za-z0-9\-._~]/

export function canonicalRequest(
  signed: Pick<SignedRequest, 'payload' | 'request' | 'signedHeaders'>,
): string {
  const { payload, request, signedHeaders } = signed
  const headers = signedHeaders.map((name) => `${name}:${valuesOf(request, name).map(trimmed).join(',')}\n`)
  return [
    request.method,
    canonicalPath(request.path),
    canonicalQuery(request.query),
    headers.join(''),
    signedHeaders.join(';'),
    payload,
  ].join('\n')
}

function canonicalPath(path: string): string {
  return path
    .split('/')
    .map((segment) => encoded(octetsOf(segment)))
    .join('/')
}

/** Without X-Amz-Signature; a parameter without `=` has an empty value. */
function canonicalQuery(query: string): string {
  if (query === '') return ''
  const pairs = query
    .split('&')
    .filter((pair) => pair !== '')
    .map((pair) => {
      const at = pair.indexOf('=')
      const [name, value] = at < 0 ? [pair, ''] : [pair.slice(0, at), pair.slice(at + 1)]
      return [name, value].map((text) => encoded(octetsOf(text.replaceAll('+', ' ')))) as [string, string]
    })
    .filter(([name]) => name !== 'X-Amz-Signature')
  return pairs
    .toSorted((one, other) => order(one[0], other[0]) || order(one[1], other[1]))
    .map(([name, value]) => `${name}=${value}`)
    .join('&')
}

/** By octets; encoded texts are ASCII. */
const order = (one: string, other: string): number => (one < other ? -1 : Number(one > other))

const trimmed = (value: string): string => value.trim().replace(/ +/g, ' ')

/** Percent-encoded octets decoded; a percent sign without two digits stands for itself. */
function octetsOf(text: string): Buffer {
  if (!text.includes('%')) return Buffer.from(text, 'latin1')
  const octets = Buffer.from(text, 'latin1')
  let length = 0
  for (let at = 0; at < octets.length; at += 1) {
    const digits = octets[at] === PERCENT ? text.slice(at + 1, at + 3) : ''
    const isEncoded = /^[0-9A-Fa-f]{2}$/.test(digits)
    octets[length] = isEncoded ? Number.parseInt(digits, 16) : (octets[at] ?? 0)
    length += 1
    if (isEncoded) at += 2
  }
  return octets.subarray(0, length)
}

const PERCENT = 0x25

/** RFC 3986 2.3 with upper-case digits. */
function encoded(octets: Uint8Array): string {
  let text = ''
  for (const octet of octets) {
    const character = String.fromCharCode(octet)
    text += UNRESERVED.test(character) ? character : `%${octet.toString(16).toUpperCase().padStart(2, '0')}`
  }
  return text
}
