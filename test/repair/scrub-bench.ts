/**
 * One node's scrub on a virtual clock, a store in memory that counts and delays its reads, and rows set by the test.
 */
import { fileNameOf } from '../../cluster/blobs/base/blob-name.ts'
import type { BlobContent } from '../../cluster/blobs/base/blob-store.ts'
import { CopyLocks } from '../../cluster/blobs/disk/copy-locks.ts'
import { CopyCheck } from '../../cluster/repair/copy-check.ts'
import { RetryLoop } from '../../cluster/base/retry-loop.ts'
import { Scrub } from '../../cluster/repair/scrub.ts'
import { NOTHING_PASSED, type ScrubMark } from '../../cluster/repair/scrub-file.ts'
import { Throttle } from '../../cluster/repair/throttle.ts'
import type { Clock } from '../../cluster/base/clock.ts'
import type { BlobName } from '../../cluster/base/types.ts'
import { type SampleBlob, sampleBlob, streamOf } from '../blobs/blob-samples.ts'
import { MemoryBlobStore } from '../blobs/memory-blob-store.ts'
import { SILENT } from '../helpers/loggers.ts'
import type { VirtualClock } from '../programs/simulator/virtual-clock.ts'
import { RowBook } from './row-book.ts'

export const DAY_MS = 24 * 3_600_000
export const WEEK_MS = 7 * DAY_MS
/** The time that a pass aims to take. */
export const AIM_MS = 0.9 * WEEK_MS

/** The fields of a mark. */
export const UNASKED = { demand: null, passed: NOTHING_PASSED, answered: null } as const

/** Records which copies were read in full. */
export class WatchedStore extends MemoryBlobStore {
  readonly reads: string[] = []
  beforeVerify: (name: BlobName) => Promise<void> = async () => undefined

  override async verify(name: BlobName): Promise<BlobContent> {
    await this.beforeVerify(name)
    this.reads.push(name.birth)
    return super.verify(name)
  }
}

/** Outlives the process, like the disk. */
export class ScrubPlace {
  readonly clock: VirtualClock
  readonly store = new WatchedStore()
  readonly book = new RowBook()
  readonly locks = new CopyLocks()
  mark: ScrubMark | null = null
  readonly kept: ScrubMark[] = []
  keepFault: Error | null = null
  beforeKeep: () => void = () => undefined
  readonly removed: string[] = []
  /** By how much the wall clock is ahead. */
  wallAheadMs = 0
  kicks = 0
  inventories = 0

  constructor(clock: VirtualClock) {
    this.clock = clock
  }

  async add(seed: number, size = 1_000): Promise<SampleBlob> {
    const blob = sampleBlob(seed, size)
    await this.store.write(blob, streamOf(blob.bytes), blob)
    this.book.list(blob)
    return blob
  }

  /** In the order of their names, like a scrub. */
  async addMany(count: number, size = 1_000): Promise<SampleBlob[]> {
    const blobs: SampleBlob[] = []
    for (let seed = 0; seed < count; seed++) blobs.push(await this.add(seed, size))
    return blobs.sort((a, b) => (fileNameOf(a) < fileNameOf(b) ? -1 : 1))
  }

  start(bytesPerSecond: number | null = null): ScrubRun {
    return new ScrubRun(this, new Throttle(this.clock, bytesPerSecond))
  }

  /** Replaces the remover. */
  async remove(name: BlobName): Promise<boolean> {
    this.removed.push(name.birth)
    await this.store.remove([name])
    return true
  }

  async write(mark: ScrubMark): Promise<void> {
    if (this.keepFault !== null) throw this.keepFault
    this.beforeKeep()
    this.mark = mark
    this.kept.push(mark)
  }
}

/** One life of the process. */
export class ScrubRun {
  readonly scrub: Scrub
  readonly throttle: Throttle
  readonly #retryLoop: RetryLoop
  readonly #ended: Promise<void>

  constructor(place: ScrubPlace, throttle: Throttle) {
    const { store, book: ledger, locks } = place
    const clock: Clock = {
      now: () => place.clock.now(),
      wallTime: () => place.clock.wallTime() + place.wallAheadMs,
      after: (ms, callback) => place.clock.after(ms, callback),
    }
    this.throttle = throttle
    this.#retryLoop = new RetryLoop(clock, SILENT)
    this.scrub = new Scrub({
      nodeId: 'n1',
      store,
      ledger,
      check: new CopyCheck({ nodeId: 'n1', ledger, store, remover: place, locks, logger: SILENT }),
      file: { read: async () => place.mark, write: (mark) => place.write(mark) },
      throttle,
      clock,
      retryLoop: this.#retryLoop,
      logger: SILENT,
      everyMs: WEEK_MS,
      beforePass: async () => void place.inventories++,
      onLost: () => void place.kicks++,
    })
    this.#ended = this.scrub.run()
  }

  async stop(): Promise<void> {
    this.throttle.close()
    this.#retryLoop.end()
    await this.#ended
  }
}
