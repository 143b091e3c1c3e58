/**
 * The entity tags of bodies written through the native API: `<32 hex>-<parts>`. [decisions 0: ETag]
 *
 * For an object from one upload, and for a part: the head of SHA-256 over the chunk ids (32 raw bytes each, in order), and
 * `1`. Equal bytes of one tenant have equal tags, regardless of how they are stored. For an assembled object: the head of
 * SHA-256 over the tags of its parts (the 16 raw bytes of each, in order), and their number. The dash keeps S3 clients from
 * comparing a tag with an MD5.
 */
import { createHash, type Hash } from 'node:crypto'
import type { ChunkId } from '../state-machine/base/record-ids.ts'

const HEAD_CHARS = 32

export function etagOf(chunkIds: Iterable<ChunkId>): string {
  const hash = createHash('sha256')
  for (const id of chunkIds) hash.update(id, 'hex')
  return `${headOf(hash)}-1`
}

/** The tag of an object assembled from parts with these tags, in this order; each must be a result of `etagOf`. */
export function etagOfParts(etags: readonly string[]): string {
  const hash = createHash('sha256')
  for (const etag of etags) hash.update(etag.slice(0, HEAD_CHARS), 'hex')
  return `${headOf(hash)}-${etags.length}`
}

function headOf(hash: Hash): string {
  return hash.digest('hex').slice(0, HEAD_CHARS)
}
