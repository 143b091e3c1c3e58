/**
 * Streams for the transport tests: of known content, metered, breaking; and what to do with them.
 */
import type { ByteStream } from '../../cluster/transport/transport.ts'

export const MIB = 1024 * 1024
export const CHUNK = pattern(64 * 1024)

export function pattern(length: number): Buffer {
  return Buffer.from(Uint8Array.from({ length }, (_, i) => (i * 31 + (i >> 8)) & 0xff))
}

export async function* streamOf(chunks: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* chunks
}

export async function* breakingStream(chunks: number): AsyncGenerator<Uint8Array> {
  for (let i = 0; i < chunks; i++) yield CHUNK
  throw new Error('the disk under the stream broke')
}

/** Not a generator: `return` must be called even if nothing was read yet. */
export function meteredStream(
  meter: { sent: number; ended: boolean },
  total: number,
): AsyncIterableIterator<Uint8Array> {
  const done = { done: true, value: undefined } as const
  return {
    async next() {
      if (meter.ended || meter.sent >= total) {
        meter.ended = true
        return done
      }
      meter.sent += CHUNK.length
      return { done: false, value: CHUNK }
    },
    async return() {
      meter.ended = true
      return done
    },
    [Symbol.asyncIterator]() {
      return this
    },
  }
}

/** Turns of the event loop without any transfer: enough for buffers to be full; tests assert only an upper bound. */
export async function untilStalled(meter: { readonly sent: number }, total: number): Promise<void> {
  let before = -1
  for (let still = 0; still < 200 && meter.sent < total; ) {
    still = meter.sent === before ? still + 1 : 0
    before = meter.sent
    await new Promise((resolve) => setImmediate(resolve))
  }
}

export async function collect(stream: ByteStream): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  for await (const chunk of stream) chunks.push(chunk)
  return Buffer.concat(chunks)
}

export async function lengthOf(stream: ByteStream): Promise<number> {
  let length = 0
  for await (const chunk of stream) length += chunk.length
  return length
}

export async function drain(reader: AsyncIterator<Uint8Array>): Promise<void> {
  while ((await reader.next()).done !== true) continue
}

export async function rejection(promise: Promise<unknown>): Promise<Error> {
  try {
    await promise
  } catch (err) {
    if (err instanceof Error) return err
    throw err
  }
  throw new Error('the promise was expected to reject')
}
