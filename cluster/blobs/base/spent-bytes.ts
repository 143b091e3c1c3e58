/**
 * Frees the memory of large buffers at once instead of at the next garbage collection.
 *
 * V8 starts a full collection of the heap for every few MiB of new buffers, regardless of what the heap contains.
 * Rule: only for bytes to which there is no other reference and on which no system call is at work. A freed buffer is empty: code
 * that still holds a view of it by mistake sees no bytes, never those of another blob. src/content has the same for bodies, in a file
 * that its threads can load without `cluster/`.
 */

/** Frees bytes that fill their whole buffer. A view of a part of a buffer stays: the rest may be in use elsewhere. */
export function releaseBytes(bytes: Uint8Array): void {
  const { buffer } = bytes
  if (bytes.length > 0 && bytes.length === buffer.byteLength && buffer instanceof ArrayBuffer)
    buffer.transfer(0)
}

/** For a source whose pieces belong to the reader, and a reader that no longer uses a piece once it requests the next one or stops. */
export async function* releasing(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const piece of source) {
    try {
      yield piece
    } finally {
      releaseBytes(piece)
    }
  }
}
