/**
 * Splits the body of a `puts` call into the blobs that its header names.
 *
 * Owns: the splitting. Knows nothing of: disks. Rules: a blob is yielded once all its bytes have arrived, however the body was cut
 * into pieces. A body that is too short fails only the blobs that it does not fully contain; a body that is too long fails the call.
 */
import type { ByteStream } from '../../transport/transport.ts'
import { PeerRefusedError } from '../../transport/transport.ts'
import { BLOB_REFUSALS, type NamedContent } from '../base/blob-calls.ts'

export interface CutBlob {
  readonly blob: NamedContent
  readonly bytes: Uint8Array
}

/** The blobs in order, as far as the body contains them. Throws PeerRefusedError when more bytes follow. */
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
      bytes ??= Buffer.allocUnsafeSlow(blob.size)
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
