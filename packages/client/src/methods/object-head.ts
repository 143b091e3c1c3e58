/**
 * What the headers of an answer say of an object.
 *
 * Rule: a page of another origin sees only the headers that the CORS rules of the bucket expose, so each member may be null.
 */
import { textOfHeader } from '../call/methods.ts'

export interface ObjectHead {
  /** Bytes of the whole object. */
  readonly size: number | null
  /** Bytes of this answer; null when it came in chunks. */
  readonly contentLength: number | null
  /** Of a part of an object, such as `bytes 0-99/1234`. */
  readonly contentRange: string | null
  /** Without quotes, as in listings. */
  readonly etag: string | null
  readonly versionId: string | null
  readonly contentType: string | null
  /** RFC 3339. */
  readonly lastModified: string | null
  readonly metadata: Readonly<Record<string, string>>
  /** base64, by algorithm; of the whole object. */
  readonly checksums: Readonly<Record<string, string>>
  readonly cacheControl: string | null
  readonly contentDisposition: string | null
  readonly contentEncoding: string | null
  readonly contentLanguage: string | null
  readonly expires: string | null
  readonly tagCount: number | null
  readonly partsCount: number | null
  readonly requestId: string | null
  /** All headers, by lower-case names. */
  readonly headers: Readonly<Record<string, string>>
}

/** Read the body to its end or cancel it; otherwise the connection stays busy. */
export interface ObjectDownload extends ObjectHead {
  readonly body: ReadableStream<Uint8Array>
}

const META = 'x-service-meta-'
const CHECKSUM = 'x-service-checksum-'
const ALGORITHMS = ['CRC32', 'CRC32C', 'CRC64NVME', 'SHA1', 'SHA256']

export function objectHeadOf(headers: Readonly<Record<string, string>>): ObjectHead {
  const text = (name: string): string | null => {
    const value = headers[name]
    return value === undefined ? null : textOfHeader(value)
  }
  const count = (name: string): number | null => {
    const value = headers[name]
    return value === undefined ? null : Number(value)
  }
  const changed = Date.parse(headers['last-modified'] ?? '')
  return {
    size: count('x-service-object-length'),
    contentLength: count('content-length'),
    contentRange: text('content-range'),
    etag: text('etag')?.replaceAll('"', '') ?? null,
    versionId: text('x-service-version-id'),
    contentType: text('content-type'),
    lastModified: Number.isNaN(changed) ? null : new Date(changed).toISOString(),
    metadata: Object.fromEntries(
      Object.entries(headers)
        .filter(([name]) => name.startsWith(META))
        .map(([name, value]) => [name.slice(META.length), textOfHeader(value)]),
    ),
    checksums: Object.fromEntries(
      ALGORITHMS.flatMap((algorithm) => {
        const value = headers[CHECKSUM + algorithm.toLowerCase()]
        return value === undefined ? [] : [[algorithm, value]]
      }),
    ),
    cacheControl: text('cache-control'),
    contentDisposition: text('content-disposition'),
    contentEncoding: text('content-encoding'),
    contentLanguage: text('content-language'),
    expires: text('expires'),
    tagCount: count('x-service-tag-count'),
    partsCount: count('x-service-parts-count'),
    requestId: text('x-request-id'),
    headers,
  }
}
