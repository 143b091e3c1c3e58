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
export function releasing(source: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  return { [Symbol.asyncIterator]: () => new Releasing(source[Symbol.asyncIterator]()) }
}

/** Not a generator: each of the many pieces of a large body would cost several turns of the queue of promises. */
class Releasing implements AsyncIterator<Uint8Array> {
  readonly #source: AsyncIterator<Uint8Array>
  /** The one that the reader has. */
  #piece: Uint8Array | null = null

  constructor(source: AsyncIterator<Uint8Array>) {
    this.#source = source
  }

  async next(): Promise<IteratorResult<Uint8Array>> {
    this.#release()
    const step = await this.#source.next()
    if (step.done !== true) this.#piece = step.value
    return step
  }

  async return(): Promise<IteratorResult<Uint8Array>> {
    this.#release()
    await this.#source.return?.()
    return { done: true, value: undefined }
  }

  #release(): void {
    if (this.#piece !== null) releaseBytes(this.#piece)
    this.#piece = null
  }
}
