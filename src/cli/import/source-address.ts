/**
 * Addresses of another S3 store: `s3://bucket/prefix` as it is typed, and the URL of a request. [AWS S3 API reference: Virtual hosting of buckets]
 *
 * Owns: the spelling and the two styles; pure. Rule: every octet of a key that is not unreserved is percent-encoded, so that both sides sign
 * the same path. [RFC 3986 2.3]
 */
import { CommandError, EXIT } from '../base/exit.ts'

export interface SourcePath {
  /** Null: `s3://`, the whole store. */
  readonly bucket: string | null
  /** Empty, or a folder with a slash at its end, so that `photos` does not include `photos-old/1`. */
  readonly prefix: string
}

/** Throws CommandError. */
export function sourcePath(text: string): SourcePath {
  const [, bucket, rest = ''] = /^s3:\/\/([^/]*)(?:\/(.*))?$/s.exec(text) ?? []
  if (bucket === undefined || (bucket === '' && rest !== ''))
    throw usage(
      `'${text}' does not name a bucket of another store`,
      'Write s3://bucket or s3://bucket/prefix.',
    )
  if (bucket === '') return { bucket: null, prefix: '' }
  return { bucket, prefix: rest === '' || rest.endsWith('/') ? rest : `${rest}/` }
}

/** Throws CommandError. */
export function sourceEndpoint(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null
  const isPlain = url !== null && url.username === '' && url.search === '' && url.hash === ''
  if (isPlain && /^https?:$/.test(url.protocol)) return url
  throw usage(
    `'${text}' is not the address of a store`,
    'Write it like https://s3.example.net or http://127.0.0.1:9000, without a bucket.',
  )
}

export interface Target {
  readonly bucket?: string
  readonly key?: string
  readonly query?: Readonly<Record<string, string>>
}

export interface Place {
  readonly origin: string
  /** As the Host header and the signature carry it. */
  readonly host: string
  /** Percent-encoded, without the query. */
  readonly path: string
  /** Percent-encoded, without `?`. */
  readonly query: string
}

/** `isVirtualHost`: the bucket is part of the name of the host. */
export function placeOf(
  endpoint: URL,
  isVirtualHost: boolean,
  { bucket = '', key = '', query = {} }: Target,
): Place {
  const isInHost = isVirtualHost && bucket !== ''
  const host = isInHost ? `${bucket}.${endpoint.host}` : endpoint.host
  const segments = [...(isInHost || bucket === '' ? [] : [bucket]), ...(key === '' ? [] : key.split('/'))]
  return {
    origin: `${endpoint.protocol}//${host}`,
    host,
    path: `${endpoint.pathname.replace(/\/$/, '')}/${segments.map(encoded).join('/')}`,
    query: Object.entries(query)
      .map((pair) => pair.map(encoded).join('='))
      .join('&'),
  }
}

function encoded(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (found) => `%${found.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}

function usage(message: string, hint: string): CommandError {
  return new CommandError(message, { code: 'invalid_argument', hint, exitCode: EXIT.usage })
}
