/**
 * The memory that all uploads of a node share: a fixed number of chunks between socket and disk.
 *
 * Owns: which uploads may hold a chunk, first come, first served; the plain buffers, which are reused.
 * Knows nothing of: their contents. Rule: a chunk is held from its first byte until its copies are durable. An upload
 * that waits for a slot does not read from its socket, so the client waits.
 */
import assert from 'node:assert/strict'

/** Plain bytes of a chunk; only the last one of a body is smaller. */
export const CHUNK_BYTES = 4 * 1024 * 1024
/** Plain buffers kept for the next chunk; more are made when more chunks fill at the same moment. */
const SPARE_BUFFERS_MAX = 4

export class ChunkSlot {
  #buffer: Buffer | null
  #giveBack: ((buffer: Buffer | null) => void) | null
  readonly #spare: (buffer: Buffer) => void

  constructor(buffer: Buffer, spare: (buffer: Buffer) => void, giveBack: (buffer: Buffer | null) => void) {
    this.#buffer = buffer
    this.#spare = spare
    this.#giveBack = giveBack
  }

  get plain(): Buffer {
    assert(this.#buffer !== null, 'the plain buffer is not returned yet')
    return this.#buffer
  }

  /** The chunk is sealed: another chunk may reuse the plain buffer, while this chunk still counts as held. */
  dropPlain(): void {
    this.#spare(this.plain)
    this.#buffer = null
  }

  /** Idempotent. */
  release(): void {
    this.#giveBack?.(this.#buffer)
    this.#giveBack = null
    this.#buffer = null
  }
}

interface Waiter {
  readonly admit: () => void
}

export class ChunkSlots {
  readonly #slotsMax: number
  readonly #waiters = new Set<Waiter>()
  readonly #spares: Buffer[] = []
  #held = 0

  constructor(slotsMax: number) {
    assert(slotsMax >= 1, 'an upload needs at least one slot')
    this.#slotsMax = slotsMax
  }

  /** How many chunks are between socket and disk now. */
  get held(): number {
    return this.#held
  }

  /** First come, first served. Rejects with the signal's reason when it is aborted first. */
  async acquire(signal: AbortSignal): Promise<ChunkSlot> {
    signal.throwIfAborted()
    if (this.#held >= this.#slotsMax) await this.#turn(signal)
    else this.#held += 1
    // Shared memory: a sealing thread reads it without a copy.
    const buffer = this.#spares.pop() ?? Buffer.from(new SharedArrayBuffer(CHUNK_BYTES))
    return new ChunkSlot(
      buffer,
      (plain) => this.#keep(plain),
      (plain) => this.#release(plain),
    )
  }

  /** Resolves with a slot held: the releasing upload passes its slot on, so no later upload can take it first. */
  #turn(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = () => {
        this.#waiters.delete(waiter)
        reject(signal.reason)
      }
      const waiter = {
        admit: () => {
          signal.removeEventListener('abort', leave)
          resolve()
        },
      }
      this.#waiters.add(waiter)
      signal.addEventListener('abort', leave, { once: true })
    })
  }

  #release(plain: Buffer | null): void {
    if (plain !== null) this.#keep(plain)
    for (const next of this.#waiters) {
      this.#waiters.delete(next)
      next.admit()
      return
    }
    this.#held -= 1
  }

  #keep(plain: Buffer): void {
    if (this.#spares.length < SPARE_BUFFERS_MAX) this.#spares.push(plain)
  }
}
