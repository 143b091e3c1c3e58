/**
 * What a client needs of a platform: one request at one endpoint, and time.
 *
 * Rule: a transport throws when there is no answer, and returns every answer whatever its status is.
 */
import type { Request } from './operation.ts'

/** `B`: the bytes of an answer as they arrive. */
export interface Attempted<B> {
  readonly status: number
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>
  /** Must be read or cancelled. */
  readonly body: B
  /** The body as it arrives, once. It is cancelled when the loop ends early. */
  readonly pieces: () => AsyncIterable<Uint8Array>
  /** Reads the body to its end. Throws when it is larger than ANSWER_BYTES_MAX. */
  readonly bytes: () => Promise<Uint8Array>
}

export interface Transport<B> {
  attempt(endpoint: string, request: Request, signal: AbortSignal | undefined): Promise<Attempted<B>>
  close(): Promise<void>
}

export interface Clock {
  /** Milliseconds since 1970. */
  now(): number
  /** Rejects when the signal is aborted. */
  wait(ms: number, signal: AbortSignal | undefined): Promise<void>
}

/** Of a JSON or text answer: the largest page of a listing has 1,000 keys of 1 KiB, and a CORS answer is smaller. */
export const ANSWER_BYTES_MAX: number = 64 * 1024 * 1024

export async function collected(pieces: AsyncIterable<Uint8Array>): Promise<Uint8Array<ArrayBuffer>> {
  const held: Uint8Array[] = []
  let length = 0
  for await (const piece of pieces) {
    length += piece.length
    if (length > ANSWER_BYTES_MAX)
      throw new Error(`The answer has more than ${ANSWER_BYTES_MAX} bytes: this is no answer of a node`)
    held.push(piece)
  }
  return joined(held, length)
}

/** `length`: of all of them. */
export function joined(pieces: readonly Uint8Array[], length: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(length)
  let at = 0
  for (const piece of pieces) {
    bytes.set(piece, at)
    at += piece.length
  }
  return bytes
}

export const SYSTEM_CLOCK: Clock = {
  now: () => Date.now(),
  wait: (ms, signal) =>
    new Promise((resolve, reject) => {
      signal?.throwIfAborted()
      const stop = (): void => {
        clearTimeout(timer)
        reject(signal?.reason as Error)
      }
      const timer = setTimeout(() => {
        signal?.removeEventListener('abort', stop)
        resolve()
      }, ms)
      signal?.addEventListener('abort', stop, { once: true })
    }),
}

/** The result of `work`, unless the signal is aborted before: then its reason is thrown, and `work` goes its way. */
export async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work
  signal.throwIfAborted()
  let stop = (): void => undefined
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason as Error)
    signal.addEventListener('abort', stop, { once: true })
  })
  try {
    return await Promise.race([work, aborted])
  } finally {
    signal.removeEventListener('abort', stop)
  }
}
