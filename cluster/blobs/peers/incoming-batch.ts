/**
 * The body of a `puts` call, cut into the blobs that its header names.
 *
 * Owns: the cutting. Knows nothing of: disks. Rules: a blob is handed on when all its bytes are there, whatever pieces they came in;
 * what is missing at the end is missing for the blobs behind it alone, and bytes that belong to no blob spoil the call.
 */
import type { ByteStream } from '../../transport/transport.ts'
import { PeerRefusedError } from '../../transport/transport.ts'
import { BLOB_REFUSALS, type NamedContent } from '../base/blob-calls.ts'

export interface CutBlob {
  readonly blob: NamedContent
  readonly bytes: Uint8Array
}

/** The blobs in their order, as far as the body reaches. Throws PeerRefusedError when more follows. */
export async function* cutBatch(blobs: readonly NamedContent[], body: ByteStream): AsyncGenerator<CutBlob> {
  let [next, filled] = [0, 0]
  let bytes: Uint8Array<ArrayBuffer> | null = null
  for await (const piece of body) {
    for (let at = 0; at < piece.length; ) {
      const blob = blobs[next]
      if (blob === undefined)
        throw new PeerRefusedError(
          BLOB_REFUSALS.invalid,
          'Cannot take a batch: its body is longer than its blobs',
        )
      bytes ??= new Uint8Array(blob.size)
      const part = piece.subarray(at, at + blob.size - filled)
      bytes.set(part, filled)
      filled += part.length
      at += part.length
      if (filled < blob.size) continue
      yield { blob, bytes }
      next++
      filled = 0
      bytes = null
    }
  }
}
