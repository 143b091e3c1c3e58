/**
 * The WAL for tests and for the simulator: a disk that is an object, flushes that take virtual time.
 *
 * Owns: the same promises as ThreadWal, and the ways in which a machine may break. Knows nothing of: files, threads.
 * Rule: only what a flush has moved onto the MemoryDisk survives `crash`; a dead MemoryWal never speaks again.
 */
import assert from 'node:assert/strict'
import type { Clock, Timer } from '../node/clock.ts'
import type { LogBase } from '../raft/types.ts'
import { LogImage } from './log-image.ts'
import type { Wal, WalBatch, WalContent, WalEvents } from './wal.ts'

/** Outlives every MemoryWal on it, as a disk outlives processes. */
export class MemoryDisk {
  /** What has been flushed. */
  readonly image = new LogImage()
  /** When set, the next flush fails with it. */
  fault: Error | null = null
}

export interface MemoryWalOptions {
  readonly disk: MemoryDisk
  readonly clock: Clock
  /** How long one flush takes; asked before each. */
  readonly flushMs: () => number
}

type Write =
  | { readonly type: 'append'; readonly batch: WalBatch }
  | { readonly type: 'compact'; readonly base: LogBase }

export class MemoryWal implements Wal {
  readonly #options: MemoryWalOptions
  #events: WalEvents | null = null
  /** Not yet durable, oldest first. Bounded by the limits of the core. */
  #waiting: Write[] = []
  #flush: Timer | null = null
  #isDead = false
  #isClosing = false
  #drained: (() => void)[] = []

  constructor(options: MemoryWalOptions) {
    this.#options = options
  }

  async open(events: WalEvents): Promise<WalContent> {
    assert(this.#events === null, 'a log is opened once')
    this.#events = events
    const { hardState, base, entries } = this.#options.disk.image.content
    return { hardState, base, entries: [...entries] }
  }

  append(batch: WalBatch): void {
    this.#write({ type: 'append', batch })
  }

  compact(base: LogBase): void {
    this.#write({ type: 'compact', base })
  }

  /** Resolves when the clock has carried the last flush through. */
  close(): Promise<void> {
    this.#isClosing = true
    return new Promise((resolve) => {
      this.#drained.push(resolve)
      this.#settle()
    })
  }

  /** The machine loses power. The first `survivors` of the waiting writes happened to reach the disk unacknowledged. */
  crash(survivors = 0): void {
    for (const write of this.#waiting.slice(0, survivors)) this.#keep(write)
    this.#die()
  }

  #write(write: Write): void {
    if (this.#isDead) return
    assert(this.#events !== null && !this.#isClosing, 'a log is written to between open and close')
    this.#waiting.push(write)
    this.#flush ??= this.#startFlush()
  }

  /** What is waiting now shares one flush; what comes later has to wait for the next. */
  #startFlush(): Timer {
    const count = this.#waiting.length
    return this.#options.clock.after(this.#options.flushMs(), () => this.#finishFlush(count))
  }

  #finishFlush(count: number): void {
    this.#flush = null
    if (this.#options.disk.fault !== null) {
      this.#fail(this.#options.disk.fault)
      return
    }
    const written = this.#waiting.splice(0, count)
    for (const write of written) this.#keep(write)
    if (this.#waiting.length > 0) this.#flush = this.#startFlush()
    for (const write of written) {
      if (write.type === 'append' && !this.#isDead) this.#events?.onDurable(write.batch.sequence)
    }
    this.#settle()
  }

  #keep(write: Write): void {
    if (write.type === 'append') this.#options.disk.image.apply(write.batch)
    else this.#options.disk.image.compact(write.base)
  }

  #fail(error: Error): void {
    this.#die()
    this.#events?.onFatal(error)
  }

  #die(): void {
    this.#isDead = true
    this.#flush?.cancel()
    this.#flush = null
    this.#waiting = []
    this.#settle()
  }

  #settle(): void {
    if (this.#waiting.length > 0) return
    for (const resolve of this.#drained.splice(0)) resolve()
  }
}
