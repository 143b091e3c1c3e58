/**
 * How many chunks of all uploads of a node are sealed and stored at the same time.
 *
 * Owns: which whole chunk is next: the tenants in turn, of one tenant first come, first served. Knows nothing of: clients, buffers.
 * Rule: a slot is held from the moment a chunk is whole until its copies are durable: for as long as disks take, never for as long
 * as a client takes. So the sealed bytes of so many chunks are the most that are in memory.
 */
import assert from 'node:assert/strict'

/** Plain bytes of a chunk; only the last one of a body is smaller. */
export const CHUNK_BYTES = 4 * 1024 * 1024

export class ChunkSlot {
  #giveBack: (() => void) | null

  constructor(giveBack: () => void) {
    this.#giveBack = giveBack
  }

  /** Idempotent. */
  release(): void {
    this.#giveBack?.()
    this.#giveBack = null
  }
}

interface Waiter {
  readonly admit: () => void
}

export class ChunkSlots {
  readonly #slotsMax: number
  /** By tenant, the one whose turn is next first; no list is empty. */
  readonly #waiters = new Map<string, Set<Waiter>>()
  #held = 0

  constructor(slotsMax: number) {
    assert(slotsMax >= 1, 'an upload needs at least one slot')
    this.#slotsMax = slotsMax
  }

  /** How many chunks are sealed and stored now. */
  get held(): number {
    return this.#held
  }

  /** Rejects with the signal's reason when it is aborted first. */
  async acquire(tenantId: string, signal: AbortSignal): Promise<ChunkSlot> {
    signal.throwIfAborted()
    if (this.#held >= this.#slotsMax) await this.#turn(tenantId, signal)
    else this.#held += 1
    return new ChunkSlot(() => this.#release())
  }

  /** Resolves with a slot held: the releasing upload passes its slot on, so no later upload can take it first. */
  #turn(tenantId: string, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const own = this.#waiters.get(tenantId) ?? new Set<Waiter>()
      const leave = (): void => {
        own.delete(waiter)
        if (own.size === 0) this.#waiters.delete(tenantId)
        reject(signal.reason)
      }
      const waiter = {
        admit: () => {
          signal.removeEventListener('abort', leave)
          resolve()
        },
      }
      own.add(waiter)
      this.#waiters.set(tenantId, own)
      signal.addEventListener('abort', leave, { once: true })
    })
  }

  #release(): void {
    const next = this.#next()
    if (next === null) this.#held -= 1
    else next.admit()
  }

  /** The first of the tenant whose turn it is, which is then the last in turn. */
  #next(): Waiter | null {
    for (const [tenantId, own] of this.#waiters) {
      this.#waiters.delete(tenantId)
      for (const waiter of own) {
        own.delete(waiter)
        if (own.size > 0) this.#waiters.set(tenantId, own)
        return waiter
      }
    }
    return null
  }
}
