/**
 * Pieces of stored bytes, read in turns with the work of other callers.
 *
 * Owns: who has the turn for the next piece. Knows nothing of: where the pieces go.
 */
import type { Admission } from '../limits/admission.ts'
import type { Exchange } from './exchange.ts'

/** Each piece is read in a turn of its tenant. */
export async function* inTurns(
  bytes: AsyncIterable<Uint8Array>,
  admission: Admission | null,
): AsyncGenerator<Uint8Array> {
  if (admission === null) return yield* bytes
  const pieces = bytes[Symbol.asyncIterator]()
  try {
    for (;;) {
      const step = await admission.read(() => pieces.next())
      if (step.done === true) return
      yield step.value
    }
  } finally {
    // A reader that has ended by itself is done already.
    await pieces.return?.(undefined)
  }
}

/**
 * The same for a request that stores what it reads: between two pieces other requests have the turn, as they have it while a client is waited
 * for. Throws Refusal request_timeout when the request has taken as long as one may.
 */
export async function* sharedTurns(
  pieces: AsyncIterable<Uint8Array>,
  exchange: Pick<Exchange, 'admission' | 'requireTime'>,
): AsyncGenerator<Uint8Array> {
  const { admission } = exchange
  for await (const piece of inTurns(pieces, admission)) {
    exchange.requireTime()
    yield piece
    admission?.rest()
    await admission?.resume()
  }
}
