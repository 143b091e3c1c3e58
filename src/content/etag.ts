/**
 * The entity tags of bodies. [decisions 0: ETag; 17: "S3: MD5"]
 *
 * Of bytes that came through the native API: `<32 hex>-1`, the head of SHA-256 over the chunk ids (32 raw bytes each, in order). Equal
 * bytes of one tenant have equal tags, regardless of how they are stored; the dash keeps S3 clients from comparing a tag with an MD5.
 * Of bytes that came through the S3 API: their MD5, 32 hex. An assembled object has `<32 hex>-<parts>`: over the 16 raw bytes in the tag
 * of each part, in order, MD5 if all of them are MD5s, as in S3, and otherwise the head of SHA-256.
 */
import { createHash, type Hash } from 'node:crypto'
import type { ChunkId } from '../state-machine/base/record-ids.ts'

const HEAD_CHARS = 32
const MD5_TAG = /^[0-9a-f]{32}$/
/** What a part may have. */
export const PART_TAG: RegExp = /^[0-9a-f]{32}(-1)?$/

export function etagOf(chunkIds: Iterable<ChunkId>): string {
  const hash = createHash('sha256')
  for (const id of chunkIds) hash.update(id, 'hex')
  return `${headOf(hash)}-1`
}

/** The tag of an object assembled from parts with these tags, in this order; each must match PART_TAG. */
export function etagOfParts(etags: readonly string[]): string {
  const hash = createHash(etags.every((etag) => MD5_TAG.test(etag)) ? 'md5' : 'sha256')
  for (const etag of etags) hash.update(etag.slice(0, HEAD_CHARS), 'hex')
  return `${headOf(hash)}-${etags.length}`
}

function headOf(hash: Hash): string {
  return hash.digest('hex').slice(0, HEAD_CHARS)
}
