/**
 * A page of a listing of another S3 store. [AWS S3 API reference: ListObjectsV2]
 *
 * Owns: reading of the XML. Rule: keys are decoded as the answer says they are encoded, because not every store obeys `encoding-type`.
 */
import type { ReadElement } from '../api/s3/xml/read-xml.ts'

/** The answer is no listing. */
export class OddListingError extends Error {
  override readonly name = 'OddListingError'
}

export interface ListedObject {
  readonly key: string
  /** Bytes. */
  readonly size: number
  /** Without quotes. */
  readonly etag: string
  /** Milliseconds since 1970. */
  readonly modifiedAt: number
}

export interface ListingPage {
  readonly objects: readonly ListedObject[]
  /** Null: it is the last page. */
  readonly next: string | null
}

/** `token`: of this page. A listing that does not advance is refused, so that no store keeps its reader busy indefinitely. Throws OddListingError, MalformedXmlError. */
export function listingPage(root: ReadElement, token: string | null): ListingPage {
  const isUrl = root.textOf('EncodingType')?.trim() === 'url'
  const objects = root.childrenNamed('Contents').map((entry) => listed(entry, isUrl))
  if (root.textOf('IsTruncated')?.trim() !== 'true') return { objects, next: null }
  const next = root.textOf('NextContinuationToken')?.trim() || null
  if (next === null) throw new OddListingError('A listing continues, but has no NextContinuationToken')
  if (next === token) throw new OddListingError('A listing continues with the page that it has just shown')
  return { objects, next }
}

function listed(entry: ReadElement, isUrl: boolean): ListedObject {
  const key = entry.needed('Key').text
  const size = Number(entry.textOf('Size')?.trim() ?? '')
  if (!Number.isSafeInteger(size) || size < 0)
    throw new OddListingError(`A listing has the size "${entry.textOf('Size')}"`)
  return {
    key: isUrl ? decoded(key) : key,
    size,
    etag: unquoted(entry.textOf('ETag') ?? ''),
    modifiedAt: Date.parse(entry.textOf('LastModified')?.trim() ?? ''),
  }
}

/** Quotes and white space around it are not part of it. */
export function unquoted(etag: string): string {
  return etag.trim().replace(/^W\//, '').replaceAll('"', '')
}

/** As forms write it: a plus sign is a space. */
function decoded(key: string): string {
  try {
    return decodeURIComponent(key.replaceAll('+', ' '))
  } catch (cause) {
    throw new OddListingError(
      `A listing has the key "${key.slice(0, 80)}", which is not percent-encoded UTF-8`,
      { cause },
    )
  }
}

/** Of a request for one page. */
export const pageQuery = (
  prefix: string,
  { token, maxKeys }: { readonly token: string | null; readonly maxKeys: number },
): Record<string, string> => ({
  'list-type': '2',
  'encoding-type': 'url',
  'max-keys': `${maxKeys}`,
  ...(prefix === '' ? {} : { prefix }),
  ...(token === null ? {} : { 'continuation-token': token }),
})
