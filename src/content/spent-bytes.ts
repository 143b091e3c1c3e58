/**
 * Releases the memory of large buffers at once, before the next garbage collection.
 *
 * V8 starts a full collection of the heap for every few dozen MiB of new buffers, regardless of the contents of the heap; with
 * streaming bodies these collections took most of the CPU time of a node.
 * Rule: only for bytes that no other code holds and no running system call uses. A released buffer is empty: code that holds a
 * view of it by mistake sees nothing, never the bytes of another request.
 */

/** Releases bytes that fill their buffer. A view of a part of a buffer is not released: other code may use the rest. */
export function releaseBytes(bytes: Uint8Array): void {
  const { buffer } = bytes
  if (bytes.length > 0 && bytes.length === buffer.byteLength && buffer instanceof ArrayBuffer)
    buffer.transfer(0)
}

/** Releases each piece of `source` when the reader requests the next one or stops. The reader must own the pieces. */
export async function* releasing(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const piece of source) {
    try {
      yield piece
    } finally {
      releaseBytes(piece)
    }
  }
}
