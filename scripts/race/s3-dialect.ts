/**
 * Requests of the S3 API, signed with an unsigned payload: for our own S3 API, and for a peer that speaks it.
 */
import { request } from 'undici'
import { S3Signer } from '../bench/s3-signer.ts'
import type { RaceRequest } from './race-socket.ts'
import { type Dialect, headOf, LIST_KEYS, type RaceSystem } from './system.ts'

export interface S3Place {
  readonly endpoint: string
  readonly bucket: string
  readonly accessKeyId: string
  readonly secretKey: string
}

/** One bucket at all nodes of a system. */
export function s3Nodes({
  endpoints,
  ...place
}: Omit<S3Place, 'endpoint'> & Pick<RaceSystem, 'endpoints'>): Pick<RaceSystem, 'dialect' | 'open'> {
  const places = endpoints.map((endpoint) => ({ ...place, endpoint }))
  const dialects = places.map(s3Dialect)
  const at = <T>(items: readonly T[], node: number): T => {
    const item = items[node]
    if (item === undefined) throw new RangeError(`There is no node ${node} of ${items.length}`)
    return item
  }
  return { dialect: (node) => at(dialects, node), open: () => makeS3Bucket(at(places, 0)) }
}

async function makeS3Bucket(place: S3Place): Promise<void> {
  const { endpoint, bucket } = place
  const path = `/${bucket}`
  const headers = new S3Signer(place).headers('PUT', path, new URL(endpoint).host)
  const { statusCode, body } = await request(endpoint + path, { method: 'PUT', headers })
  const text = await body.text()
  if (statusCode !== 200) throw new Error(`PUT ${path} at ${endpoint} gave ${statusCode}: ${text}`)
}

export function s3Dialect(place: S3Place): Dialect {
  const { endpoint, bucket } = place
  const { host } = new URL(endpoint)
  const signer = new S3Signer(place)
  const head = (method: string, key: string, bytes: number | null, query = ''): string => {
    const path = key === '' ? `/${bucket}` : `/${bucket}/${key}`
    const { host: _, ...signed } = signer.headers(method, path, host, query)
    const headers = Object.entries(signed)
      .map(([name, value]) => `${name}: ${value}\r\n`)
      .join('')
    return headOf({ method, path: query === '' ? path : `${path}?${query}`, host, headers, bytes })
  }
  const plain = (method: string, key: string, status: number): RaceRequest => ({
    head: head(method, key, null),
    body: null,
    status,
    isHead: method === 'HEAD',
  })
  return {
    put: (key, body, bytes) => ({ head: head('PUT', key, bytes), body, status: 200, isHead: false }),
    get: (key) => plain('GET', key, 200),
    head: (key) => plain('HEAD', key, 200),
    delete: (key) => plain('DELETE', key, 204),
    list: (after) => {
      // Sorted by name, as the signature wants it. [Signature Version 4: canonical query string]
      const query = `list-type=2&max-keys=${LIST_KEYS}&start-after=${encodeURIComponent(after)}`
      return { head: head('GET', '', null, query), body: null, status: 200, isHead: false }
    },
    keysOf: (answer) => [...answer.toString().matchAll(/<Key>([^<]*)<\/Key>/g)].map(([, key = '']) => key),
    objectOf: (answer) => answer,
    isPlain: true,
    objectBytesMax: Number.POSITIVE_INFINITY,
  }
}
