/**
 * Finds copies on this node's disk that no row names and none ever will: what uploads that ended left behind.
 *
 * Owns: which copies are looked at, and when. Knows nothing of: locks, drop rows, how a copy is removed.
 * Rules: what it finds is only a proposal; the remover asks the rows again under the lock of each copy. Once a row has named a copy only a drop
 * row ends that, so what this process writes is watched until then; everything else on the disk is walked over after a start, unless the
 * stop before was clean and said what was open, and once a week.
 */
import type { BlobStore } from '../blobs/base/blob-store.ts'
import type { Clock } from '../base/clock.ts'
import type { BlobName, CopyLedger, Logger, NodeId } from '../base/types.ts'
import { BackgroundLoop } from '../base/background-loop.ts'
import { FreshCopies } from './fresh-copies.ts'
import type { SweepFile } from './sweep-file.ts'

export interface CopySweepParts {
  readonly nodeId: NodeId
  readonly ledger: Pick<CopyLedger, 'standing'>
  readonly store: Pick<BlobStore, 'list'>
  readonly sweepFile: Pick<SweepFile, 'take' | 'write'>
  readonly clock: Clock
  readonly logger: Logger
  /** The rows are no older than what this node acted upon when it resolves. */
  readonly beforeRound: () => Promise<void>
  /** Gives those that are gone. */
  readonly remove: (names: readonly BlobName[]) => Promise<readonly BlobName[]>
}

const WATCH_MS = 10_000
const RETRY_MS = 1_000
const WALK_POLL_MS = 60_000
/** The scrub meets every copy as often. */
const WALK_EVERY_MS = 7 * 24 * 3_600_000
/** After a walk that met more open copies than can be watched. */
const WALK_AGAIN_MS = 3_600_000
/** Each costs a few rows to be looked up, on the thread of all requests: small steps, and rests between them. */
const NAMES_PER_STEP = 64
const PAUSE_MS = 20
/** Of a look at what was written: 1,638 copies a second are more than a node writes. */
const STEPS_PER_LOOK = 256

export class CopySweep {
  readonly #parts: CopySweepParts
  readonly #fresh: FreshCopies
  readonly #watch: BackgroundLoop
  readonly #walks: BackgroundLoop
  /** Copies may lie on the disk that are neither settled nor watched. */
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

  /** Copies, since the start. */
  get removed(): number {
    return this.#removed
  }

  /** Once, after the store is open and before anybody writes into it. */
  async open(): Promise<void> {
    const { clock, sweepFile } = this.#parts
    const open = await sweepFile.take()
    for (const name of open ?? []) this.onWrite(name)
    this.#isUnknown = open === null || this.#wasStoreUnknown
    this.#walkAt = clock.now() + (this.#isUnknown ? 0 : WALK_EVERY_MS)
  }

  /** A copy is about to be written, or was. */
  onWrite(name: BlobName): void {
    this.#fresh.add(name, this.#parts.clock.now())
  }

  /** The drop rows of these are to be ended by `end`, which may take effect later than it says, or although it fails. */
  async duringDrop(names: readonly BlobName[], end: () => Promise<void>): Promise<void> {
    const { clock } = this.#parts
    for (const name of names) this.#fresh.pin(name, clock.now())
    await end()
    for (const name of names) this.#fresh.unpin(name, clock.now())
  }

  /** Other copies may lie on the disk than those that were there: it was exchanged, or what leads to copies was made anew. */
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

  /** After the last write and the end of the store: then the next start need not walk. */
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
    // What becomes unknown from here on is not seen by this walk.
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
      // Asked twice: this look costs no lock, and nearly all copies stay.
      const said = ledger.standing(name, nodeId)
      if (said === 'listed' || said === 'owed') this.#fresh.settle(name)
      // Also what is about to be dropped: the write may have come after the removal that ends its drop row.
      else this.onWrite(name)
      if (said === 'abandoned') left.push(name)
    }
    const gone = left.length > 0 ? await remove(left) : []
    for (const name of gone) this.#fresh.settle(name)
    this.#removed += gone.length
  }
}
