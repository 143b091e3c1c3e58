/**
 * The bytes of an outgoing request or answer: the header, then the body in any of its forms.
 *
 * Owns: the three forms of a body and whether their length is known. Knows nothing of: sockets.
 * Rule: a body of known length is sent with that length and a stream is chunked, so that the receiver can distinguish a broken
 * connection from an end.
 */
import { Readable } from 'node:stream'
import type { ByteStream, CallRequest } from './transport.ts'

/** Bodies up to this size are joined with their header into one buffer. Bytes. */
const JOINED_BYTES_MAX = 64 * 1024

export interface OutgoingPayload {
  readonly body: Buffer | Readable
  /** null: unknown until the end. Bytes. */
  readonly length: number | null
}

/** `onBytes` is called when bytes are passed on, that is when the receiver has space after the bytes before. */
export function payloadOf(
  header: Uint8Array,
  body: CallRequest['body'],
  onBytes: (count: number) => void,
): OutgoingPayload {
  if (body === undefined) return whole([header], onBytes)
  if (body instanceof Uint8Array) return whole([header, body], onBytes)
  if (isParts(body)) return whole([header, ...body], onBytes)
  return {
    body: Readable.from(new PrefixedStream(header, body, onBytes), { objectMode: false }),
    length: null,
  }
}

function isParts(body: readonly Uint8Array[] | ByteStream): body is readonly Uint8Array[] {
  return Array.isArray(body)
}

function whole(parts: readonly Uint8Array[], onBytes: (count: number) => void): OutgoingPayload {
  const length = parts.reduce((sum, part) => sum + part.length, 0)
  onBytes(length)
  if (length <= JOINED_BYTES_MAX) return { body: Buffer.concat(parts), length }
  return { body: Readable.from(parts, { objectMode: false }), length }
}

/** Not a generator: `return` must reach the source even when nothing was read yet. */
class PrefixedStream implements AsyncIterable<Uint8Array>, AsyncIterator<Uint8Array, undefined> {
  readonly #source: AsyncIterator<Uint8Array>
  readonly #onBytes: (count: number) => void
  #header: Uint8Array | null

  constructor(header: Uint8Array, source: ByteStream, onBytes: (count: number) => void) {
    this.#header = header
    this.#source = source[Symbol.asyncIterator]()
    this.#onBytes = onBytes
  }

  async next(): Promise<IteratorResult<Uint8Array, undefined>> {
    const header = this.#header
    this.#header = null
    const result = header === null ? await this.#source.next() : { done: false, value: header }
    if (result.done === true) return { done: true, value: undefined }
    this.#onBytes(result.value.length)
    return { done: false, value: result.value }
  }

  async return(): Promise<IteratorResult<Uint8Array, undefined>> {
    await this.#source.return?.()
    return { done: true, value: undefined }
  }

  [Symbol.asyncIterator](): this {
    return this
  }
}
