/**
 * The entity tag of a body written through the native API: `<32 hex>-1`. [decisions 0: ETag]
 *
 * The hex is the head of SHA-256 over the chunk ids (32 raw bytes each, in order). Equal bytes of one tenant have equal
 * tags, however they are stored; the dash keeps S3 clients from comparing it with an MD5.
 */
import { createHash } from 'node:crypto'
import type { ChunkId } from '../state-machine/records.ts'

const HEAD_CHARS = 32

export function etagOf(chunkIds: Iterable<ChunkId>): string {
  const hash = createHash('sha256')
  for (const id of chunkIds) hash.update(id, 'hex')
  return `${hash.digest('hex').slice(0, HEAD_CHARS)}-1`
}
