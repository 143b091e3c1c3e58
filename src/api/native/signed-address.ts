/**
 * How the address of a signed URL is spelled. [decisions 8]
 *
 * Rule: it names the very key, regardless of what the key holds and of what rewrites the URL in flight: all but the unreserved
 * characters of RFC 3986 are percent-encoded. Slashes stay, but not next to "." and "..", which clients resolve away.
 */
import type { SignedUrlTerms } from '../../access/base/signed-url.ts'

export const DATA_MOUNT = '/api/v1'
export const SIGNED_PATH = '/signed'

export interface SignedAddress {
  readonly url: string
  /** RFC 6570; null unless the URL is for a prefix. */
  readonly urlTemplate: string | null
}

/** `base`: without a slash at its end. */
export function signedAddress(
  base: string,
  { bucket, key, keyPrefix }: Pick<SignedUrlTerms, 'bucket' | 'key' | 'keyPrefix'>,
  token: string,
): SignedAddress {
  const path = `${base}${DATA_MOUNT}${SIGNED_PATH}/${bucket}/${encodeKey(key ?? keyPrefix ?? '')}`
  const query = `?token=${token}`
  return { url: `${path}${query}`, urlTemplate: keyPrefix === null ? null : `${path}{+suffix}${query}` }
}

function encodeKey(key: string): string {
  const segments = key.split('/')
  const hasDots = segments.some((segment) => segment === '.' || segment === '..')
  return segments.map(encodeAll).join(hasDots ? '%2F' : '/')
}

/** encodeURIComponent leaves what RFC 3986 reserves as sub-delimiters, and what a shell would take for a quote. */
function encodeAll(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}
