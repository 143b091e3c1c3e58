/**
 * Memory of large buffers given back at once, not when the garbage collector next looks.
 *
 * V8 begins a full collection of the heap for every few MiB of buffers that were made, whatever is in the heap.
 * Rule: only for bytes that nobody else holds and that no system call is at work on. What was given back is empty from then
 * on: somebody who holds a view of it by mistake sees nothing, never the bytes of another. src/content has the same for
 * bodies, in a file that its threads can load without the machine.
 */

/** Bytes that lie in a buffer of their own. A view of a part of a buffer is left alone: the rest may be somebody else's. */
export function releaseBytes(bytes: Uint8Array): void {
  const { buffer } = bytes
  if (bytes.length > 0 && bytes.length === buffer.byteLength && buffer instanceof ArrayBuffer)
    buffer.transfer(0)
}

/** For a source whose pieces are the reader's own, and a reader that is done with each when it asks for the next, or leaves. */
export async function* releasing(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const piece of source) {
    try {
      yield piece
    } finally {
      releaseBytes(piece)
    }
  }
}
