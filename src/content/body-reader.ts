/**
 * Reads the body of an upload from the client: counted, digested, interruptible.
 *
 * Owns: sizes, and all digests except MD5, which takes so long that it is computed chunk by chunk. Knows nothing of: chunks, keys.
 * Rules: at most one piece of the source is held, and none when the next is requested. The source is never closed here: it is the
 * request's socket, on which its owner may still have to respond.
 */
import { Refusal } from '../base/refusal.ts'
import type { Checksums } from '../state-machine/bodies/records.ts'
import { BodyDigests } from './checksums.ts'
import type { ClientSpeed } from './client-speed.ts'
import type { IngestRequest } from './content.ts'

/** Measures the client while the body is read. */
export interface SpeedWatch {
  readonly speed: ClientSpeed
  /** Monotonic, in milliseconds. */
  readonly now: () => number
}

export class BodyReader {
  readonly #pieces: AsyncIterator<Uint8Array>
  readonly #expectedSize: number | null
  readonly #sizeMax: number
  #signal: AbortSignal
  readonly #digests: BodyDigests
  readonly #watch: SpeedWatch
  #piece: Uint8Array = new Uint8Array(0)
  #size = 0
  #ended = false

  /** Throws Refusal entity_too_large if the expected size is too large. */
  constructor(request: Omit<IngestRequest, 'tenant' | 'caller'>, watch: SpeedWatch) {
    this.#watch = watch
    this.#pieces = request.source[Symbol.asyncIterator]()
    this.#expectedSize = request.expectedSize
    this.#sizeMax = request.sizeMax
    this.#signal = request.signal
    this.#digests = new BodyDigests(request.claimed, request.wanted, request.trailing, ['MD5'])
    if ((request.expectedSize ?? 0) > request.sizeMax) this.#refuseTooLarge()
  }

  get size(): number {
    return this.#size
  }

  /** From here on this signal ends the reading. */
  stopOn(signal: AbortSignal): void {
    this.#signal = signal
  }

  /** Bytes that were read and not moved yet. */
  get available(): number {
    return this.#piece.length
  }

  /** Waits for the next bytes; false at the end of the body. Throws Refusal for a body longer than allowed or announced. */
  async hasMore(): Promise<boolean> {
    while (this.#piece.length === 0 && !this.#ended) {
      const { speed, now } = this.#watch
      speed.asked(now())
      const next = await this.#pull()
      speed.arrived(next.done === true ? 0 : next.value.length, now())
      if (next.done === true) this.#ended = true
      else this.#take(next.value)
    }
    return this.#piece.length > 0
  }

  /** Moves the bytes that were read and fit to `target` from `offset` on; returns their end. */
  moveTo(target: Buffer, offset: number): number {
    const moved = this.#piece.subarray(0, target.length - offset)
    target.set(moved, offset)
    this.#piece = this.#piece.subarray(moved.length)
    return offset + moved.length
  }

  /**
   * Call it after the end: returns the verified digests. `md5`: not null where one is claimed. Throws Refusal invalid_request for a
   * short body, checksum_mismatch, and what trailing claims throw.
   */
  verified(md5: Buffer | null): Checksums {
    if (this.#expectedSize !== null && this.#size < this.#expectedSize) {
      throw new Refusal(
        'invalid_request',
        `The body ended after ${this.#size} of ${this.#expectedSize} bytes`,
      )
    }
    return this.#digests.verified(new Map(md5 === null ? [] : [['MD5', md5]]))
  }

  #take(piece: Uint8Array): void {
    this.#size += piece.length
    if (this.#size > this.#sizeMax) this.#refuseTooLarge()
    if (this.#expectedSize !== null && this.#size > this.#expectedSize) {
      throw new Refusal(
        'invalid_request',
        `The body is longer than the announced ${this.#expectedSize} bytes`,
      )
    }
    this.#digests.update(piece)
    this.#piece = piece
  }

  /** One listener per pull, removed afterwards: a race against one long-lived promise would keep every piece alive. */
  #pull(): Promise<IteratorResult<Uint8Array>> {
    const signal = this.#signal
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason)
      const stop = () => reject(signal.reason)
      const settle = () => signal.removeEventListener('abort', stop)
      signal.addEventListener('abort', stop, { once: true })
      this.#pieces.next().then(
        (step) => {
          settle()
          resolve(step)
        },
        (error: unknown) => {
          settle()
          reject(error)
        },
      )
    })
  }

  #refuseTooLarge(): never {
    throw new Refusal('entity_too_large', `The body is larger than the ${this.#sizeMax} bytes allowed`)
  }
}
