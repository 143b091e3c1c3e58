/**
 * Removes copies from this node's disk: those that committed rows name for removal, and those that ended uploads left behind.
 *
 * Owns: the loop over drop rows, and every removal. Knows nothing of: why a copy may be removed, how leftovers are found
 * (copy-sweep.ts).
 * Rules: a copy is unlinked only under its lock, by what the rows say once the lock is held. No copy is removed before this process
 * has passed a read barrier, because its rows may be older than those on which an earlier process of this node acted. Drop rows
 * never wait for the sweep.
 */
import type { BlobStore } from '../blobs/base/blob-store.ts'
import type { CopyLocks } from '../blobs/disk/copy-locks.ts'
import type { Clock } from '../base/clock.ts'
import type { BlobName, CopyLedger, Logger, MetricSample, NodeId } from '../base/types.ts'
import { BackgroundLoop } from '../base/background-loop.ts'
import { CopySweep } from './copy-sweep.ts'
import { mayRemove } from './may-remove.ts'
import type { SweepFile } from './sweep-file.ts'

export interface CopyRemoverOptions {
  readonly nodeId: NodeId
  readonly ledger: Pick<CopyLedger, 'drops' | 'dropped' | 'copyStatus'>
  readonly store: Pick<BlobStore, 'remove' | 'list'>
  /** Shared with all components that make or judge copies of this node. */
  readonly locks: CopyLocks
  readonly sweepFile: Pick<SweepFile, 'take' | 'write'>
  readonly readBarrier: () => Promise<void>
  readonly clock: Clock
  readonly logger: Logger
}

const POLL_MS = 1_000
/**
 * Copies removed together: the files of one directory, and all packs, share a flush. 1,024 names are four in each of the 256
 * directories, and four commands.
 */
const GROUP_COPIES_MAX = 1_024

export class CopyRemover {
  readonly #options: CopyRemoverOptions
  readonly #drops: BackgroundLoop
  /** Must be notified of every write to the store, and when the contents of the store become unknown. */
  readonly sweep: CopySweep
  #isCurrent = false
  #dropped = 0

  constructor(options: CopyRemoverOptions) {
    this.#options = options
    const round = (): Promise<number> => this.#removeDropped()
    this.#drops = new BackgroundLoop({
      ...options,
      failure: 'copies not removed yet',
      retryMs: POLL_MS,
      round,
    })
    this.sweep = new CopySweep({
      ...options,
      beforeRound: () => this.#becomeCurrent(),
      remove: (names) => this.#removeFree(names),
    })
  }

  start(): void {
    this.#drops.start()
    this.sweep.start()
  }

  /** Starts no more removals and resolves when those in progress have ended. */
  async stop(): Promise<void> {
    await Promise.all([this.#drops.stop(), this.sweep.stop()])
  }

  /** True if the copy may be removed; it is gone when this resolves. */
  async remove(name: BlobName): Promise<boolean> {
    const { locks } = this.#options
    if (!this.#isCurrent) return false
    return locks.hold(name, async () => (await this.#removeLocked([name])).length > 0)
  }

  metrics(): readonly MetricSample[] {
    const about = { kind: 'counter', help: 'Copies removed from this disk' } as const
    return [
      {
        ...about,
        name: 'holdfast_repair_dropped_total',
        help: `${about.help} because a committed row named them for removal.`,
        value: this.#dropped,
      },
      {
        ...about,
        name: 'holdfast_repair_abandoned_total',
        help: `${about.help} because no row named them.`,
        value: this.sweep.removed,
      },
    ]
  }

  // ---------------------------------------------------------------------------------------------

  async #becomeCurrent(): Promise<void> {
    if (!this.#isCurrent) await this.#options.readBarrier()
    this.#isCurrent = true
  }

  /** Returns the time until the next reading of the rows. */
  async #removeDropped(): Promise<number> {
    const { ledger, nodeId } = this.#options
    await this.#becomeCurrent()
    const names = await ledger.drops(nodeId, GROUP_COPIES_MAX)
    const gone = this.#drops.isStarted ? await this.#removeFree(names) : []
    if (gone.length === 0) return POLL_MS
    await this.sweep.duringDrop(gone, () => ledger.dropped(nodeId, gone))
    this.#dropped += gone.length
    return names.length === GROUP_COPIES_MAX ? 0 : POLL_MS
  }

  /** Returns the names that are gone when it resolves. A copy that another caller has locked is left for the next round. */
  #removeFree(names: readonly BlobName[]): Promise<readonly BlobName[]> {
    return this.#options.locks.holdFree(names, (free) => this.#removeLocked(free))
  }

  async #removeLocked(names: readonly BlobName[]): Promise<readonly BlobName[]> {
    const { ledger, nodeId, store } = this.#options
    const going = names.filter((name) => mayRemove(ledger.copyStatus(name, nodeId)))
    if (going.length > 0) await store.remove(going)
    return going
  }
}
