/**
 * Writes a piece of an answer and waits until the system has taken it, for as long as its client is fast enough.
 *
 * Owns: the end of that wait. Knows nothing of: routes, what the bytes are.
 * Rule: only the time until the system has taken the piece counts: that is the time spent waiting for the client.
 */
import { Refusal } from '../base/refusal.ts'
import type { BodyPace } from './body-pace.ts'
import { ClientGoneError } from './exchange.ts'
import type { RawResponse } from './raw/raw-pair.ts'

/** How often a write that does not end is looked at. */
const LOOK_MS = 1000

export interface AnswerPace {
  readonly answer: BodyPace
  /** Monotonic, in milliseconds. */
  readonly now: () => number
}

/**
 * `pace` null: it may take as long as it likes. Rejects with ClientGoneError when the bytes will never be taken, with Refusal
 * request_timeout when they are taken too slowly.
 */
export function pacedWrite(
  piece: Uint8Array,
  response: Pick<RawResponse, 'destroyed' | 'once' | 'off' | 'write'>,
  pace: AnswerPace | null,
): Promise<void> {
  // Afterwards the piece may be another thread's.
  const { length } = piece
  return new Promise((resolve, reject) => {
    const askedMs = pace?.now() ?? 0
    const waitedMs = (): number => (pace === null ? 0 : pace.now() - askedMs)
    const end = (error: Error | null): void => {
      response.off('close', gone)
      clearInterval(watch)
      if (error === null) resolve()
      else reject(error)
    }
    const gone = (): void => end(new ClientGoneError())
    if (response.destroyed) return reject(new ClientGoneError())
    const watch = setInterval(() => {
      if (pace?.answer.isHopeless(length, waitedMs()) === true) end(tooSlow())
    }, LOOK_MS)
    response.once('close', gone)
    response.write(piece, (error) => {
      if (error) return gone()
      end(pace?.answer.isTooSlow(length, waitedMs()) === true ? tooSlow() : null)
    })
  })
}

function tooSlow(): Refusal {
  return new Refusal('request_timeout', 'The client took the answer too slowly')
}
