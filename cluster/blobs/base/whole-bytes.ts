/**
 * Bytes of a blob that are in memory as a whole: a store writes them where they are, without a copy.
 *
 * Owns: the claim that they are, and the copy where they are not. Knows nothing of: where they go. Rule: the caller that makes the claim
 * leaves the bytes unchanged until the write has settled. For a store without use for it, they are a stream like any other.
 */
import type { BlobName } from '../../base/types.ts'
import type { ExpectedContent } from './blob-store.ts'
import { ContentCheck } from './content-check.ts'

/** Hashing one piece never blocks the event loop for long. */
const PIECE_BYTES = 512 * 1024

export class WholeBytes implements AsyncIterable<Uint8Array> {
  readonly bytes: Uint8Array

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    for (let at = 0; at < this.bytes.length; at += PIECE_BYTES)
      yield this.bytes.subarray(at, at + PIECE_BYTES)
  }
}

/**
 * The bytes of the source, compared with what is expected; in a buffer of their own unless they are whole already, because the pieces of
 * a stream belong to its sender. Throws BlobWriteError.
 */
export async function inMemory(
  name: BlobName,
  source: AsyncIterable<Uint8Array>,
  expected: ExpectedContent,
): Promise<Uint8Array> {
  const check = new ContentCheck(name, expected)
  if (source instanceof WholeBytes) {
    check.add(source.bytes)
    check.finish()
    return source.bytes
  }
  const bytes = Buffer.allocUnsafeSlow(expected.size)
  let filled = 0
  for await (const piece of source) {
    check.add(piece)
    bytes.set(piece, filled)
    filled += piece.length
  }
  check.finish()
  return bytes
}
