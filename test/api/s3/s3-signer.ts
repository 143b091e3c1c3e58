/**
 * A signer of requests, version 4, written from the reference for clients and from nothing of `src/`: what both sides agree on is right.
 * [AWS S3 API reference: Signature Calculations for the Authorization Header; Using Query Parameters]
 */
import { createHash, createHmac } from 'node:crypto'

export interface SigningSecret {
  readonly accessKeyId: string
  readonly secretKey: string
}

export interface ToSign {
  readonly method: string
  /** Percent-encoded, with the query. */
  readonly path: string
  readonly host: string
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>
  /** The value of x-amz-content-sha256. */
  readonly payload: string
  readonly at: Date
  readonly region?: string
}

const sha256 = (bytes: string | Uint8Array): string => createHash('sha256').update(bytes).digest('hex')
const hmac = (key: string | Uint8Array, text: string): Buffer =>
  createHmac('sha256', key).update(text).digest()

export function signingKeyOf(secretKey: string, day: string, region: string): Buffer {
  return hmac(hmac(hmac(hmac(`AWS4${secretKey}`, day), region), 's3'), 'aws4_request')
}

export const amzDate = (at: Date): string => at.toISOString().replace(/[-:]|\.\d+/g, '')

const UNRESERVED = /[A-Za-z0-9._~-]/

/** Octets as they are signed, however a path spells them; a percent sign without two digits is one. [RFC 3986 2.1, 2.3] */
function canonicalSegment(segment: string): string {
  const octets = Array.from(segment.matchAll(/%([0-9A-Fa-f]{2})|([^])/g), ([, digits, other = '']) =>
    digits === undefined ? other.charCodeAt(0) : Number.parseInt(digits, 16),
  )
  return octets
    .map((octet) => {
      const character = String.fromCharCode(octet)
      return UNRESERVED.test(character) ? character : `%${octet.toString(16).toUpperCase().padStart(2, '0')}`
    })
    .join('')
}

function canonicalQuery(query: string): string {
  return query
    .split('&')
    .filter((pair) => pair !== '')
    .map((pair) => {
      const [name = '', ...value] = pair.split('=')
      return `${canonicalSegment(name)}=${canonicalSegment(value.join('='))}`
    })
    .sort()
    .join('&')
}

interface Signed {
  readonly signature: string
  readonly scope: string
  readonly signedHeaders: string
}

function sign(secretKey: string, request: ToSign, headers: Readonly<Record<string, string>>): Signed {
  const region = request.region ?? 'us-east-1'
  const timestamp = amzDate(request.at)
  const day = timestamp.slice(0, 8)
  const scope = `${day}/${region}/s3/aws4_request`
  const names = Object.keys(headers).sort()
  const [path = '', ...queries] = request.path.split('?')
  const query = queries.join('?')
  const canonical = [
    request.method,
    path.split('/').map(canonicalSegment).join('/'),
    canonicalQuery(query),
    ...names.map((name) => `${name}:${(headers[name] ?? '').trim().replace(/ +/g, ' ')}`),
    '',
    names.join(';'),
    request.payload,
  ].join('\n')
  const text = ['AWS4-HMAC-SHA256', timestamp, scope, sha256(Buffer.from(canonical, 'latin1'))].join('\n')
  const signature = hmac(signingKeyOf(secretKey, day, region), text).toString('hex')
  return { signature, scope, signedHeaders: names.join(';') }
}

/** Headers to send, with Authorization. */
export function signedHeaders(secret: SigningSecret, request: ToSign): Record<string, string> {
  const own = {
    ...request.headers,
    host: request.host,
    'x-amz-date': amzDate(request.at),
    'x-amz-content-sha256': request.payload,
  }
  const { signature, scope, signedHeaders: names } = sign(secret.secretKey, request, own)
  const credential = `${secret.accessKeyId}/${scope}`
  return {
    ...own,
    authorization: `AWS4-HMAC-SHA256 Credential=${credential}, SignedHeaders=${names}, Signature=${signature}`,
  }
}

/** The path with a signed query; only the host is signed of the headers, and `request.headers` where given. */
export function presignedPath(secret: SigningSecret, request: ToSign, expiresSeconds: number): string {
  const region = request.region ?? 'us-east-1'
  const timestamp = amzDate(request.at)
  const headers: Record<string, string> = { ...request.headers, host: request.host }
  const own = {
    'X-Amz-Algorithm': 'AWS4-HMAC-SHA256',
    'X-Amz-Credential': `${secret.accessKeyId}/${timestamp.slice(0, 8)}/${region}/s3/aws4_request`,
    'X-Amz-Date': timestamp,
    'X-Amz-Expires': `${expiresSeconds}`,
    'X-Amz-SignedHeaders': Object.keys(headers).sort().join(';'),
  }
  const added = Object.entries(own).map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
  const path = `${request.path}${request.path.includes('?') ? '&' : '?'}${added.join('&')}`
  const { signature } = sign(secret.secretKey, { ...request, path }, headers)
  return `${path}&X-Amz-Signature=${signature}`
}

export const payloadHash = (body: Uint8Array): string => sha256(body)

/** A body in signed chunks with `previous` as the first link, and trailers where given. */
export function signedChunks(
  secret: SigningSecret,
  chunks: readonly Uint8Array[],
  {
    at,
    first,
    region = 'us-east-1',
    trailers,
  }: {
    readonly at: Date
    readonly first: string
    readonly region?: string
    readonly trailers?: Readonly<Record<string, string>>
  },
): Buffer {
  const timestamp = amzDate(at)
  const day = timestamp.slice(0, 8)
  const scope = `${day}/${region}/s3/aws4_request`
  const key = signingKeyOf(secret.secretKey, day, region)
  const link = (kind: string, previous: string, hashes: readonly string[]): string =>
    hmac(key, [`AWS4-HMAC-SHA256-${kind}`, timestamp, scope, previous, ...hashes].join('\n')).toString('hex')
  const pieces: Buffer[] = []
  let previous = first
  for (const chunk of [...chunks, new Uint8Array(0)]) {
    previous = link('PAYLOAD', previous, [sha256(''), sha256(chunk)])
    pieces.push(
      Buffer.from(`${chunk.length.toString(16)};chunk-signature=${previous}\r\n`),
      Buffer.from(chunk),
    )
    if (chunk.length > 0) pieces.push(Buffer.from('\r\n'))
  }
  if (trailers !== undefined) {
    const lines = Object.entries(trailers).map(([name, value]) => `${name}:${value}\n`)
    const signature = link('TRAILER', previous, [sha256(lines.join(''))])
    const sent = Object.entries(trailers).map(([name, value]) => `${name}:${value}\r\n`)
    pieces.push(Buffer.from(`${sent.join('')}x-amz-trailer-signature:${signature}\r\n`))
  }
  pieces.push(Buffer.from('\r\n'))
  return Buffer.concat(pieces)
}
