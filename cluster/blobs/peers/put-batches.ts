/**
 * Sends small blobs to one peer in batches: blobs that wait while a call is in flight share the next call.
 *
 * Owns: the queue, the contents of each call, the outcome of each blob. Knows nothing of: which copies are wanted.
 * Rules: a blob counts as durable only when the peer confirmed this very blob; one that fails does not affect the others. One call
 * runs at a time, so that many blobs share a call and one flush at the peer. The writes of this node bound the queue.
 */
import { PeerRefusedError } from '../../transport/transport.ts'
import { BATCH_BLOBS_MAX, BATCH_BYTES_MAX } from '../base/blob-calls.ts'
import type { OutgoingBlob } from './peer-blobs.ts'

export interface PutBatchesOptions {
  /** One `puts` call: resolves with an outcome for each blob, in the order of `blobs`. */
  readonly send: (blobs: readonly OutgoingBlob[]) => Promise<readonly (PeerRefusedError | null)[]>
}

interface Waiting {
  readonly blob: OutgoingBlob
  readonly resolve: () => void
  readonly reject: (error: Error) => void
}

export class PutBatches {
  readonly #send: PutBatchesOptions['send']
  readonly #waiting = new Set<Waiting>()
  /** A call is in flight. The peer flushes one batch after the other, so a second call would only wait there, with fewer blobs. */
  #isCalling = false

  constructor({ send }: PutBatchesOptions) {
    this.#send = send
  }

  /** Resolves when the peer's copy is durable. A blob in flight cannot be cancelled: after an abort its copy may be surplus. */
  put(blob: OutgoingBlob, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(asError(signal.reason))
      const leave = (): void => {
        this.#waiting.delete(waiting)
        reject(asError(signal.reason))
      }
      const settled = (settle: () => void) => () => {
        signal.removeEventListener('abort', leave)
        settle()
      }
      const waiting: Waiting = {
        blob,
        resolve: settled(resolve),
        reject: (error) => settled(() => reject(error))(),
      }
      signal.addEventListener('abort', leave, { once: true })
      this.#waiting.add(waiting)
      this.#pump()
    })
  }

  #pump(): void {
    if (this.#isCalling || this.#waiting.size === 0) return
    this.#isCalling = true
    void this.#deliver(this.#take()).finally(() => {
      this.#isCalling = false
      this.#pump()
    })
  }

  #take(): readonly Waiting[] {
    const batch: Waiting[] = []
    let bytes = 0
    for (const waiting of this.#waiting) {
      bytes += waiting.blob.bytes.length
      if (batch.length > 0 && (bytes > BATCH_BYTES_MAX || batch.length === BATCH_BLOBS_MAX)) break
      batch.push(waiting)
      this.#waiting.delete(waiting)
    }
    return batch
  }

  async #deliver(batch: readonly Waiting[]): Promise<void> {
    try {
      const outcomes = await this.#send(batch.map(({ blob }) => blob))
      for (const [n, { resolve, reject }] of batch.entries()) {
        const refused = outcomes[n]
        if (refused === null) resolve()
        else reject(refused ?? new PeerRefusedError('internal', 'The peer reported no outcome'))
      }
    } catch (error) {
      for (const { reject } of batch) reject(asError(error))
    }
  }
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error))
}
