/**
 * The WAL for tests and for the simulator: a disk that is an object, flushes that take virtual time.
 *
 * Owns: the same promises as ThreadWal, and the faults of a machine. Knows nothing of: files, threads.
 * Rule: only batches that a flush has moved onto the MemoryDisk survive `crash`; a dead MemoryWal calls no event again.
 */
import assert from 'node:assert/strict'
import type { Clock, Timer } from '../base/clock.ts'
import type { Entry, LogBase, LogIndex } from '../raft/types.ts'
import { LogImage } from './log-image.ts'
import type { RepairedLog } from './log-repair.ts'
import { repairedLog } from './log-repair.ts'
import { WalCorruptError } from './wal-errors.ts'
import type { Wal, WalBatch, WalContent, WalEvents, WalRepair, WalRange } from './wal.ts'

/** Outlives every MemoryWal on it, as a disk outlives processes. */
export class MemoryDisk {
  /** The flushed log, without its damage. */
  readonly image = new LogImage()
  /** Not null: the next flush fails with this error. */
  fault: Error | null = null
  readonly #damaged = new Map<LogIndex, { readonly keepTerm: boolean }>()

  /** The next `open` finds a hole at `index`, unless the entry is gone or replaced by then. */
  damage(index: LogIndex, { keepTerm }: { readonly keepTerm: boolean }): void {
    this.#damaged.set(index, { keepTerm })
  }

  /** The log as it can be read. */
  read(): WalContent {
    const { hardState, base, entries } = this.image.content
    const lost = entries.filter((entry) => this.#damaged.has(entry.index))
    const holes = lost.map(({ index, term }) => {
      return { index, term: this.#damaged.get(index)?.keepTerm === true ? term : null }
    })
    return {
      hardState,
      base,
      holes,
      entries: entries.map((entry) => (lost.includes(entry) ? blank(entry) : entry)),
    }
  }

  append(batch: WalBatch): void {
    this.image.apply(batch)
    const from = batch.base === null ? (batch.entries[0]?.index ?? Number.POSITIVE_INFINITY) : 0
    for (const index of this.#damaged.keys()) if (index >= from) this.#damaged.delete(index)
  }

  /** Repairs as a WAL does: compares the lost entries with the given ones, here also where the term cannot be read. */
  repaired(repair: WalRepair): RepairedLog {
    const { entries, ...state } = this.image.content
    const holes = entries.filter((entry) => this.#damaged.has(entry.index))
    const lost = new Map(holes.map((entry) => [entry.index, entry]))
    return repairedLog({ ...state, entries, holes }, repair, (index, filling) =>
      isSameEntry(lost.get(index), filling.get(index)),
    )
  }

  /** Replaces the whole log by one without damage. */
  replace({ base, entries }: RepairedLog): void {
    this.image.apply({ hardState: null, base, entries })
    this.#damaged.clear()
  }
}

function blank({ index, term }: Entry): Entry {
  return { index, term, kind: 'command', data: new Uint8Array() }
}

function isSameEntry(one: Entry | undefined, other: Entry | undefined): boolean {
  if (one === undefined || other === undefined) return false
  return one.term === other.term && one.kind === other.kind && Buffer.compare(one.data, other.data) === 0
}

export interface MemoryWalOptions {
  readonly disk: MemoryDisk
  readonly clock: Clock
  /** The duration of one flush; called before each. */
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
  #hasHoles = false
  #drained: (() => void)[] = []

  constructor(options: MemoryWalOptions) {
    this.#options = options
  }

  async open(events: WalEvents): Promise<WalContent> {
    assert(this.#events === null, 'a log is opened once')
    this.#events = events
    const content = this.#options.disk.read()
    this.#hasHoles = content.holes.length > 0
    return { ...content, entries: [...content.entries] }
  }

  /** Durable when the clock has completed one flush; a crash before leaves the holes as they were. */
  async repair(repair: WalRepair): Promise<WalContent> {
    assert(this.#hasHoles, 'only a log with holes is repaired')
    const { disk, clock, flushMs } = this.#options
    const repaired = disk.repaired(repair)
    return new Promise((resolve, reject) => {
      this.#flush = clock.after(flushMs(), () => {
        this.#flush = null
        if (disk.fault !== null) {
          this.#die()
          reject(disk.fault)
          return
        }
        disk.replace(repaired)
        this.#hasHoles = false
        resolve(disk.read())
      })
    })
  }

  append(batch: WalBatch): void {
    this.#write({ type: 'append', batch })
  }

  read({ from, through, bytesMax }: WalRange): Promise<readonly Entry[] | null> {
    return new Promise((resolve) => {
      this.#options.clock.after(this.#options.flushMs(), () => {
        if (this.#isDead) return resolve(null)
        const { entries, holes } = this.#options.disk.read()
        let bytes = 0
        const found = entries.filter(({ index, data }) => {
          if (index < from || index > through) return false
          bytes += data.length
          return index === from || bytes <= bytesMax
        })
        if (holes.some(({ index }) => found.some((entry) => entry.index === index))) {
          this.#fail(new WalCorruptError({ file: 'memory', offset: 0 }, 'an entry cannot be read'))
          return resolve(null)
        }
        resolve(found[0]?.index === from ? found : null)
      })
    })
  }

  compact(base: LogBase): void {
    this.#write({ type: 'compact', base })
  }

  /** Resolves when the clock has completed the last flush. */
  close(): Promise<void> {
    this.#isClosing = true
    return new Promise((resolve) => {
      this.#drained.push(resolve)
      this.#settle()
    })
  }

  /** The machine loses power. The first `survivors` of the waiting writes reached the disk without acknowledgement. */
  crash(survivors = 0): void {
    for (const write of this.#waiting.slice(0, survivors)) this.#keep(write)
    this.#die()
  }

  #write(write: Write): void {
    if (this.#isDead) return
    assert(this.#events !== null && !this.#isClosing, 'a log is written to between open and close')
    assert(!this.#hasHoles, 'a log with holes is repaired before it is written to')
    this.#waiting.push(write)
    this.#flush ??= this.#startFlush()
  }

  /** Writes that wait now share one flush; later ones wait for the next. */
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
    if (write.type === 'append') this.#options.disk.append(write.batch)
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
