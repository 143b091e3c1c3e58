/**
 * The bytes of a request or an answer as they arrive: first the header, then the body, read once.
 *
 * Owns: the separation of the header from the stream. Knows nothing of: sockets; it sees chunks.
 * Rule: a premature end is an error for the reader, never a shorter body. Nothing is read ahead.
 */
import type { ByteStream } from './transport.ts'
import { decodeHeader, HEADER_BYTES_MAX, HEADER_LENGTH_BYTES } from './frame.ts'
import { MalformedFrameError } from './msgpack-guard.ts'

export interface BodySource {
  readonly chunks: AsyncIterable<Uint8Array>
  /** Counts bytes as they arrive. */
  onBytes(count: number): void
  /** Converts the error of the source to the error for the reader. */
  blame(cause: unknown): Error
  /** Called once: at the end, after an error, or when the reader stops early. */
  release(): void
}

export class IncomingBody implements ByteStream, AsyncIterableIterator<Uint8Array, undefined> {
  readonly #source: BodySource
  readonly #chunks: AsyncIterator<Uint8Array>
  #ahead: Uint8Array | null = null
  #released = false

  constructor(source: BodySource) {
    this.#source = source
    this.#chunks = source.chunks[Symbol.asyncIterator]()
  }

  /** Called once, before the first `next`. Throws MalformedFrameError, or the error of `blame` for a broken stream. */
  async readHeader(): Promise<unknown> {
    const length = readLength(await this.#take(HEADER_LENGTH_BYTES))
    if (length > HEADER_BYTES_MAX)
      throw new MalformedFrameError(`The header claims ${length} bytes, ${HEADER_BYTES_MAX} are allowed`)
    return decodeHeader(await this.#take(length))
  }

  async next(): Promise<IteratorResult<Uint8Array, undefined>> {
    const value = await this.#pull()
    return value === null ? { done: true, value: undefined } : { done: false, value }
  }

  async return(): Promise<IteratorResult<Uint8Array, undefined>> {
    this.#release()
    return { done: true, value: undefined }
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  async #take(count: number): Promise<Uint8Array> {
    const parts: Uint8Array[] = []
    for (let missing = count; missing > 0; ) {
      const chunk = await this.#pull()
      if (chunk === null) throw new MalformedFrameError('The stream ends within the header')
      parts.push(chunk.subarray(0, missing))
      if (chunk.length > missing) this.#ahead = chunk.subarray(missing)
      missing -= Math.min(missing, chunk.length)
    }
    return Buffer.concat(parts)
  }

  async #pull(): Promise<Uint8Array | null> {
    const ahead = this.#ahead
    this.#ahead = null
    if (ahead !== null) return ahead
    if (this.#released) return null
    try {
      const { done, value } = await this.#chunks.next()
      if (done !== true) {
        this.#source.onBytes(value.length)
        return value
      }
    } catch (cause) {
      this.#release()
      throw this.#source.blame(cause)
    }
    this.#release()
    return null
  }

  #release(): void {
    if (this.#released) return
    this.#released = true
    this.#ahead = null
    this.#source.release()
  }
}

function readLength(bytes: Uint8Array): number {
  return new DataView(bytes.buffer, bytes.byteOffset, HEADER_LENGTH_BYTES).getUint32(0)
}
