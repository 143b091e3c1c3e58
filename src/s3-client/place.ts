/**
 * Where a request to another S3 store goes. [AWS S3 API reference: Virtual hosting of buckets]
 *
 * Owns: the two styles of addresses; pure. Rule: every octet of a key that is not unreserved is percent-encoded, so that both sides sign
 * the same path. [RFC 3986 2.3]
 */

export interface PlaceTarget {
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
  { bucket = '', key = '', query = {} }: PlaceTarget,
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
