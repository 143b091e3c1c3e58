/**
 * Watches over the copies on this node's disk: the inventory, the scrub, and the directory itself.
 *
 * Owns: when each of them runs. Knows nothing of: how a copy is judged or made again.
 * Rules: the inventory runs first at every start, because it is quick and finds missing copies. A directory that vanished is opened
 * again and goes through an inventory without an operator. Both happen twice, because its removal may still have been in progress.
 */
import type { CopyVerdict } from '../blobs/base/blob-calls.ts'
import type { BlobStore } from '../blobs/base/blob-store.ts'
import type { CopyLocks } from '../blobs/disk/copy-locks.ts'
import type { Clock } from '../base/clock.ts'
import type { CopyLedger, Logger, MetricSample, NodeId, RepairStatus } from '../base/types.ts'
import { CopyCheck } from './copy-check.ts'
import type { CopyRemover } from './copy-remover.ts'
import { copyWatchMetrics } from './copy-watch-metrics.ts'
import { Inventory } from './inventory.ts'
import { RetryLoop, StoppedError } from '../base/retry-loop.ts'
import { Scrub } from './scrub.ts'
import type { ScrubFile } from './scrub-file.ts'
import type { StoreMarker } from './store-marker.ts'
import type { Throttle } from './throttle.ts'

export interface CopyWatchParts {
  readonly nodeId: NodeId
  readonly store: BlobStore
  /** Makes the directories of the store again where they are missing, while it is in use. */
  readonly reopenStore: () => Promise<void>
  readonly marker: StoreMarker
  /**
   * Of a node with several disks, in place of the marker: takes disks out and in, and says whether copies may be gone or there again.
   */
  readonly lookAtDisks?: () => Promise<boolean>
  readonly scrubFile: Pick<ScrubFile, 'read' | 'write'>
  readonly ledger: Pick<CopyLedger, 'copyStatus' | 'find' | 'listed' | 'lost' | 'inventoried'>
  readonly remover: Pick<CopyRemover, 'remove'>
  readonly locks: CopyLocks
  readonly throttle: Throttle
  readonly clock: Clock
  readonly logger: Logger
  readonly scrubEveryMs: number
  /** Copies were reported as lost: there may be repair tasks. */
  readonly onLost: () => void
}

export type CopyWatchStatus = Pick<RepairStatus, 'scrub' | 'inventory' | 'directoriesLost'>

export const SCRUB_EVERY_MS: number = 7 * 24 * 3_600_000
const MARKER_EVERY_MS = 60_000
const DISKS_EVERY_MS = 5_000
/** After this many consecutive verdicts of "missing" the directory is checked. */
const MISSING_IN_A_ROW = 2

export class CopyWatch {
  readonly #parts: CopyWatchParts
  readonly #retryLoop: RetryLoop
  readonly #inventory: Inventory
  readonly #scrub: Scrub
  readonly #work = new Set<Promise<void>>()
  #isStarted = false
  #looking: Promise<void> | null = null
  #isSettled = true
  #directoriesLost = 0
  #missingInARow = 0

  constructor(parts: CopyWatchParts) {
    const { scrubFile: file, scrubEveryMs: everyMs } = parts
    this.#parts = parts
    this.#retryLoop = new RetryLoop(parts.clock, parts.logger)
    const common = { ...parts, check: new CopyCheck(parts), retryLoop: this.#retryLoop }
    this.#inventory = new Inventory(common)
    this.#scrub = new Scrub({ ...common, file, everyMs, beforePass: () => this.#inventory.run() })
  }

  /** Once, when the rows are reliable. */
  start(): void {
    this.#isStarted = true
    const { marker, lookAtDisks } = this.#parts
    this.#begin(async () => {
      if (lookAtDisks === undefined)
        await this.#retryLoop.retry('blob directory not marked yet', () => marker.accept())
      this.#begin(() => this.#watchDirectory())
      await this.#inventory.run()
      await this.#scrub.run()
    })
  }

  /** Resolves when none of its work touches the disk any more. */
  async stop(): Promise<void> {
    this.#retryLoop.end()
    while (this.#work.size > 0) await Promise.all(this.#work)
  }

  /** Call with each verdict on a copy of this node. */
  onJudged(verdict: CopyVerdict): void {
    this.#missingInARow = verdict === 'missing' ? this.#missingInARow + 1 : 0
    if (!this.#isStarted || this.#missingInARow < MISSING_IN_A_ROW) return
    this.#missingInARow = 0
    this.#begin(() => this.#lookAtDirectory())
  }

  /** Call when a disk fails. */
  onTrouble(): void {
    if (this.#isStarted) this.#begin(() => this.#lookAtDirectory())
  }

  /** Requests a scrub that starts now, under a token chosen by the caller: see Scrub.demand. */
  demandScrub(word: string | null): void {
    this.#scrub.demand(word)
  }

  status(): CopyWatchStatus {
    return {
      scrub: this.#scrub.status(),
      inventory: this.#inventory.status(),
      directoriesLost: this.#directoriesLost,
    }
  }

  metrics(): readonly MetricSample[] {
    return copyWatchMetrics(this.status(), this.#parts.scrubEveryMs)
  }

  // ---------------------------------------------------------------------------------------------

  /** Any error here except StoppedError is a bug, and ends the process. */
  #begin(run: () => Promise<void>): void {
    const work = run()
      .catch((cause: unknown) => {
        if (!(cause instanceof StoppedError)) throw cause
      })
      .finally(() => this.#work.delete(work))
    this.#work.add(work)
  }

  async #watchDirectory(): Promise<void> {
    const everyMs = this.#parts.lookAtDisks === undefined ? MARKER_EVERY_MS : DISKS_EVERY_MS
    for (;;) {
      await this.#retryLoop.wait(everyMs)
      await this.#lookAtDirectory()
    }
  }

  #lookAtDirectory(): Promise<void> {
    this.#looking ??= this.#retryLoop
      .retry('blob directory not checked yet', () => this.#repairDirectory())
      .finally(() => {
        this.#looking = null
      })
    return this.#looking
  }

  async #repairDirectory(): Promise<void> {
    const { marker, reopenStore, lookAtDisks, logger } = this.#parts
    if (lookAtDisks !== undefined) return this.#repairDisks(lookAtDisks)
    const isThere = await marker.isThere()
    if (isThere && this.#isSettled) return
    if (!isThere) {
      this.#directoriesLost++
      logger.error({}, 'blob directory is gone, opened again')
    }
    this.#isSettled = false
    await reopenStore()
    await marker.accept()
    this.#isSettled = isThere
    this.#begin(() => this.#inventory.run())
  }

  /** Twice, because a copy may just have been written to a disk that is taken out. */
  async #repairDisks(lookAtDisks: () => Promise<boolean>): Promise<void> {
    const isChanged = await lookAtDisks()
    if (isChanged || !this.#isSettled) this.#begin(() => this.#inventory.run())
    this.#isSettled = !isChanged
  }
}
