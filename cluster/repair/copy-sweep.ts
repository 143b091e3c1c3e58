/**
 * Finds copies on this node's disk that no row names and none ever will: leftovers of uploads that ended.
 *
 * Owns: which copies are checked, and when. Knows nothing of: locks, drop rows, how a copy is removed.
 * Rules: its findings are only proposals; the remover reads the rows again under the lock of each copy. Once a row has named a copy,
 * only a drop row ends that, so this process watches the copies that it writes until a row names them. It walks over all other
 * copies on the disk once a week, and after a start, unless the previous stop was clean and recorded the open copies.
 */
import type { BlobStore } from '../blobs/base/blob-store.ts'
import type { Clock } from '../base/clock.ts'
import type { BlobName, CopyLedger, Logger, NodeId } from '../base/types.ts'
import { BackgroundLoop } from '../base/background-loop.ts'
import { FreshCopies } from './fresh-copies.ts'
import type { SweepFile } from './sweep-file.ts'

export interface CopySweepParts {
  readonly nodeId: NodeId
  readonly ledger: Pick<CopyLedger, 'copyStatus'>
  readonly store: Pick<BlobStore, 'list'>
  readonly sweepFile: Pick<SweepFile, 'take' | 'write'>
  readonly clock: Clock
  readonly logger: Logger
  /** When it resolves, the rows are no older than those on which this node acted before. */
  readonly beforeRound: () => Promise<void>
  /** Returns the names that are gone. */
  readonly remove: (names: readonly BlobName[]) => Promise<readonly BlobName[]>
}

const WATCH_MS = 10_000
const RETRY_MS = 1_000
const WALK_POLL_MS = 60_000
/** The scrub reads every copy as often. */
const WALK_EVERY_MS = 7 * 24 * 3_600_000
/** The wait after a walk that found more open copies than can be watched. */
const WALK_AGAIN_MS = 3_600_000
/** Each name costs a few row lookups, on the thread of all requests, so steps are small, with rests between them. */
const NAMES_PER_STEP = 64
const PAUSE_MS = 20
/** Steps of one check of the written copies: 1,638 copies a second are more than a node writes. */
const STEPS_PER_LOOK = 256

export class CopySweep {
  readonly #parts: CopySweepParts
  readonly #fresh: FreshCopies
  readonly #watch: BackgroundLoop
  readonly #walks: BackgroundLoop
  /** The disk may hold copies that are neither settled nor watched. */
  #isUnknown = true
  #wasStoreUnknown = false
  #walkAt = 0
  #removed = 0

  constructor(parts: CopySweepParts, fresh: FreshCopies = new FreshCopies()) {
    this.#parts = parts
    this.#fresh = fresh
    const common = { ...parts, failure: 'copies not swept yet' }
    this.#watch = new BackgroundLoop({ ...common, retryMs: RETRY_MS, round: () => this.#lookAtFresh() })
    this.#walks = new BackgroundLoop({ ...common, retryMs: RETRY_MS, round: () => this.#walkWhenDue() })
  }

  /** Copies removed since the start. */
  get removed(): number {
    return this.#removed
  }

  /** Once, after the store is open and before the first write to it. */
  async open(): Promise<void> {
    const { clock, sweepFile } = this.#parts
    const open = await sweepFile.take()
    for (const name of open ?? []) this.onWrite(name)
    this.#isUnknown = open === null || this.#wasStoreUnknown
    this.#walkAt = clock.now() + (this.#isUnknown ? 0 : WALK_EVERY_MS)
  }

  /** Call before and after a copy is written. */
  onWrite(name: BlobName): void {
    this.#fresh.add(name, this.#parts.clock.now())
  }

  /** Runs `end`, which ends the drop rows of these copies; it may take effect after it resolves, or although it fails. */
  async duringDrop(names: readonly BlobName[], end: () => Promise<void>): Promise<void> {
    const { clock } = this.#parts
    for (const name of names) this.#fresh.pin(name, clock.now())
    await end()
    for (const name of names) this.#fresh.unpin(name, clock.now())
  }

  /** The copies on the disk may have changed: the directory was replaced, or the index of the packs was rebuilt. */
  onStoreUnknown(): void {
    this.#wasStoreUnknown = true
    this.#isUnknown = true
    this.#walkAt = 0
  }

  start(): void {
    this.#watch.start()
    this.#walks.start()
  }

  async stop(): Promise<void> {
    await Promise.all([this.#watch.stop(), this.#walks.stop()])
  }

  /** Call after the last write and after the store is closed: then the next start need not walk. */
  async keep(): Promise<void> {
    if (this.#isUnknown || this.#fresh.isFull) return
    try {
      await this.#parts.sweepFile.write(this.#fresh.names)
    } catch (err) {
      this.#parts.logger.warn({ err }, 'open copies not kept: the next start walks over all copies')
    }
  }

  // ---------------------------------------------------------------------------------------------

  async #lookAtFresh(): Promise<number> {
    await this.#parts.beforeRound()
    for (let step = 0; step < STEPS_PER_LOOK && this.#watch.isStarted; step++) {
      const names = this.#fresh.due(this.#parts.clock.now(), NAMES_PER_STEP)
      if (names.length > 0) await this.#judge(names)
      if (names.length < NAMES_PER_STEP) break
      await this.#watch.rest(PAUSE_MS)
    }
    return WATCH_MS
  }

  async #walkWhenDue(): Promise<number> {
    const { clock, beforeRound } = this.#parts
    if (this.#fresh.isFull) this.#walkAt = Math.min(this.#walkAt, clock.now() + WALK_AGAIN_MS)
    if (clock.now() < this.#walkAt) return WALK_POLL_MS
    await beforeRound()
    // This walk does not cover copies that become unknown from here on.
    this.#isUnknown = false
    this.#fresh.begin()
    this.#walkAt = clock.now() + WALK_EVERY_MS
    const isWhole = await this.#walk().catch((cause: unknown) => {
      this.onStoreUnknown()
      throw cause
    })
    if (!isWhole) this.onStoreUnknown()
    return WALK_POLL_MS
  }

  /** False: it was stopped. */
  async #walk(): Promise<boolean> {
    const { store } = this.#parts
    let after: BlobName | null = null
    for (;;) {
      const names: readonly BlobName[] = await store.list(after, NAMES_PER_STEP)
      if (!this.#walks.isStarted) return false
      await this.#judge(names)
      after = names.at(-1) ?? null
      if (names.length < NAMES_PER_STEP || after === null) return true
      await this.#walks.rest(PAUSE_MS)
    }
  }

  async #judge(names: readonly BlobName[]): Promise<void> {
    const { ledger, nodeId, remove } = this.#parts
    const left: BlobName[] = []
    for (const name of names) {
      // The remover reads the status again under the lock. This reading needs no lock, and nearly all copies stay.
      const status = ledger.copyStatus(name, nodeId)
      if (status === 'listed' || status === 'owed') this.#fresh.settle(name)
      // Also a copy that is about to be dropped: it may have been written after the removal that ends its drop row.
      else this.onWrite(name)
      if (status === 'abandoned') left.push(name)
    }
    const gone = left.length > 0 ? await remove(left) : []
    for (const name of gone) this.#fresh.settle(name)
    this.#removed += gone.length
  }
}
