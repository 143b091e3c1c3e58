/**
 * The memory in which the bytes of uploads collect until a chunk is whole, shared by all uploads of a node.
 *
 * Owns: who may hold how much of it, who waits, who gives way. Knows nothing of: buffers, sockets.
 * Rules: never more than `bytesMax` and one chunk (`HEAD_BYTES`) are held. Who may not take more waits, and its client with it. While
 * anyone waits, a client slower than `speedMin` gives way, the slowest first, if its tenant, key and address hold the most; one
 * waiting upload, the head, may finish its chunk beyond all shares, so that uploads that wait for each other's memory come to an end.
 * Reasons: docs/adr/0039-memory-of-uploads.md
 */
import assert from 'node:assert/strict'
import { Condition, LatencyHistogram } from '../../cluster/index.ts'
import type { ClientSpeed } from './client-speed.ts'
import { MemoryShares, type UploadCaller } from './memory-shares.ts'

/** What the head may hold beyond `bytesMax`: one chunk, and what a buffer that grows holds twice for a moment. */
export const HEAD_BYTES = 4 * 1024 * 1024 + 128 * 1024
/** All uploads are looked at to find the slowest: not for each one that waits. */
const JUDGED_EVERY_MS = 250
/** While uploads wait, clients are judged so often even if nothing arrives. */
const REVIEW_MS = 1000
const RETRY_AFTER_MS = 10_000

export interface UploadMemoryOptions {
  readonly bytesMax: number
  /** Bytes a second. */
  readonly speedMin: number
  /** Monotonic, in milliseconds. */
  readonly now: () => number
}

interface Waiter {
  readonly share: ChunkShare
  readonly bytes: number
  readonly admit: () => void
}

/** The memory of one chunk that an upload collects. */
export class ChunkShare {
  readonly caller: UploadCaller
  readonly speed: ClientSpeed
  readonly sinceMs: number
  readonly #memory: UploadMemory
  readonly #onPreempted: (reason: Condition) => void
  bytes = 0
  isWhole = false

  constructor(
    memory: UploadMemory,
    about: Pick<ChunkShare, 'caller' | 'speed' | 'sinceMs'>,
    onPreempted: (reason: Condition) => void,
  ) {
    this.caller = about.caller
    this.speed = about.speed
    this.sinceMs = about.sinceMs
    this.#memory = memory
    this.#onPreempted = onPreempted
  }

  /** Resolves when the bytes may be held. Rejects with the signal's reason when it is aborted first. */
  take(bytes: number, signal: AbortSignal): Promise<void> | null {
    return this.#memory.take(this, bytes, signal)
  }

  give(bytes: number): void {
    this.#memory.give(this, bytes)
  }

  /** The chunk needs no more bytes of its client: from now on it cannot be made to give way. */
  whole(): void {
    this.isWhole = true
    this.#memory.ended(this)
  }

  /** Gives back everything. Idempotent. */
  release(): void {
    this.#memory.release(this)
  }

  preempt(reason: Condition): void {
    this.#onPreempted(reason)
  }
}

export class UploadMemory {
  readonly #shares: MemoryShares
  readonly #options: UploadMemoryOptions
  /** In the order of their first byte. */
  readonly #held = new Set<ChunkShare>()
  readonly #waiters = new Set<Waiter>()
  /** How long chunks waited that were not granted memory at once. */
  readonly waits = new LatencyHistogram()
  #head: ChunkShare | null = null
  #judgedMs = -Infinity
  #review: NodeJS.Timeout | null = null
  #isPumping = false
  #preempted = 0

  constructor(options: UploadMemoryOptions) {
    assert(options.bytesMax >= HEAD_BYTES, 'one chunk has room')
    this.#options = options
    this.#shares = new MemoryShares(options.bytesMax)
  }

  get bytes(): number {
    return this.#shares.bytes
  }

  get bytesMax(): number {
    return this.#options.bytesMax
  }

  /** Uploads that wait for memory now. */
  get waiting(): number {
    return this.#waiters.size
  }

  /** Uploads that have given way since the start of the node. */
  get preempted(): number {
    return this.#preempted
  }

  /** How long the oldest chunk has been held, in milliseconds; 0 without one. */
  get oldestMs(): number {
    for (const { sinceMs } of this.#held) return this.#options.now() - sinceMs
    return 0
  }

  /** A share without bytes. `onPreempted`: the upload has to end with the reason; it is called once, and the share is released by then. */
  begin(caller: UploadCaller, speed: ClientSpeed, onPreempted: (reason: Condition) => void): ChunkShare {
    const share = new ChunkShare(this, { caller, speed, sinceMs: this.#options.now() }, onPreempted)
    this.#held.add(share)
    return share
  }

  /** Null: at once. */
  take(share: ChunkShare, bytes: number, signal: AbortSignal): Promise<void> | null {
    assert(this.#held.has(share) && !share.isWhole, 'memory is taken for a chunk that collects')
    if (this.#mayTake(share, bytes)) {
      this.#grant(share, bytes)
      return null
    }
    return this.#turn(share, bytes, signal)
  }

  give(share: ChunkShare, bytes: number): void {
    share.bytes -= bytes
    this.#shares.give(share.caller, bytes)
    this.#pumpSoon()
  }

  ended(share: ChunkShare): void {
    if (this.#head !== share) return
    this.#head = null
    this.#pumpSoon()
  }

  release(share: ChunkShare): void {
    if (!this.#held.delete(share)) return
    if (share.bytes > 0) this.give(share, share.bytes)
    this.ended(share)
  }

  /** While uploads wait: makes the slowest clients give way. Called by itself from time to time. */
  judge(): void {
    const nowMs = this.#options.now()
    this.#judgedMs = nowMs
    let needed = 0
    for (const { bytes } of this.#waiters) needed += bytes
    if (needed === 0) return
    for (const share of this.#tooSlow(nowMs)) {
      if (needed <= 0) break
      // One group after the other loses its weight, and then its next upload stays.
      if (!this.#shares.isHeavy(share.caller)) continue
      needed -= share.bytes
      this.#preempt(share)
    }
  }

  #tooSlow(nowMs: number): readonly ChunkShare[] {
    const found: { readonly share: ChunkShare; readonly speed: number }[] = []
    for (const share of this.#held) {
      if (share.isWhole || share.bytes === 0) continue
      const speed = share.speed.at(nowMs)
      if (speed !== null && speed < this.#options.speedMin) found.push({ share, speed })
    }
    return found.sort((a, b) => a.speed - b.speed).map(({ share }) => share)
  }

  #preempt(share: ChunkShare): void {
    this.#preempted += 1
    this.release(share)
    share.preempt(
      new Condition(
        'slow_down',
        `The memory for uploads of this node is in demand, and this body comes at less than ${this.#options.speedMin} bytes a second: send it again later, or faster`,
        { retryAfterMs: RETRY_AFTER_MS },
      ),
    )
  }

  #mayTake(share: ChunkShare, bytes: number): boolean {
    if (share === this.#head) return true
    return this.#shares.bytes + bytes <= this.#shares.bytesMax && this.#shares.roomFor(share.caller) >= bytes
  }

  #grant(share: ChunkShare, bytes: number): void {
    share.bytes += bytes
    this.#shares.take(share.caller, bytes)
  }

  #turn(share: ChunkShare, bytes: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason)
      const sinceMs = this.#options.now()
      const leave = (): void => {
        this.#waiters.delete(waiter)
        reject(signal.reason)
      }
      const admit = (): void => {
        signal.removeEventListener('abort', leave)
        this.#waiters.delete(waiter)
        this.waits.observe((this.#options.now() - sinceMs) / 1000)
        this.#grant(share, bytes)
        resolve()
      }
      const waiter = { share, bytes, admit }
      this.#waiters.add(waiter)
      signal.addEventListener('abort', leave, { once: true })
      this.#startReview()
      if (this.#options.now() - this.#judgedMs >= JUDGED_EVERY_MS) this.judge()
      this.#pumpSoon()
    })
  }

  /** Once for all that is given back in one turn. */
  #pumpSoon(): void {
    if (this.#isPumping || this.#waiters.size === 0) return
    this.#isPumping = true
    queueMicrotask(() => {
      this.#isPumping = false
      this.#pump()
    })
  }

  #pump(): void {
    for (const waiter of this.#waiters) if (this.#mayTake(waiter.share, waiter.bytes)) waiter.admit()
    // Not while the last head's chunk is beyond the bound: there is one reserve.
    if (this.#head !== null || this.#waiters.size === 0 || this.#shares.bytes > this.#shares.bytesMax) return
    const next = this.#lightest()
    this.#head = next.share
    next.admit()
  }

  /** Of the tenant that holds the least, the one that has waited longest. */
  #lightest(): Waiter {
    const [first, ...others] = this.#waiters
    assert(first !== undefined, 'only asked while someone waits')
    const bytesOf = ({ share }: Waiter): number => this.#shares.bytesOfTenant(share.caller)
    return others.reduce(
      (lightest, waiter) => (bytesOf(waiter) < bytesOf(lightest) ? waiter : lightest),
      first,
    )
  }

  #startReview(): void {
    this.#review ??= setInterval(() => {
      if (this.#waiters.size > 0) return this.judge()
      clearInterval(this.#review ?? undefined)
      this.#review = null
    }, REVIEW_MS).unref()
  }
}
