/**
 * Removes the copies that may go from this node's disk: what committed rows tell it to, and what uploads left behind.
 *
 * Owns: the loop over drop rows, the walk over the disk, their pace. Knows nothing of: why a copy may go.
 * Rules: a copy is unlinked only under its lock and on what the rows say after the lock was had; nothing is removed before
 * this process has passed a read barrier, for its rows may be older than what an earlier process of this node acted upon.
 */
import type { BlobStore } from '../blobs/blob-store.ts'
import type { CopyLocks } from '../blobs/copy-locks.ts'
import type { Clock, Timer } from '../node/clock.ts'
import type { BlobName, CopyLedger, Logger, MetricSample, NodeId } from '../types.ts'
import { mayRemove } from './may-remove.ts'

export interface CopyRemoverOptions {
  readonly nodeId: NodeId
  readonly ledger: Pick<CopyLedger, 'drops' | 'dropped' | 'standing'>
  readonly store: Pick<BlobStore, 'remove' | 'list'>
  /** Shared with all who make or judge copies of this node. */
  readonly locks: CopyLocks
  readonly readBarrier: () => Promise<void>
  readonly clock: Clock
  readonly logger: Logger
}

const POLL_MS = 1_000
const DROPS_PER_POLL = 256
/** Each copy on the disk costs a few rows to be looked up, and what a walk is after is rare: seldom, and in small steps. */
const SWEEP_EVERY_MS = 3_600_000
const NAMES_PER_PAGE = 64
const PAUSE_MS = 20

export class CopyRemover {
  readonly #options: CopyRemoverOptions
  #timer: Timer | null = null
  #running: Promise<void> = Promise.resolve()
  #started = false
  #isCurrent = false
  #sweepAt = 0
  #dropped = 0
  #abandoned = 0

  constructor(options: CopyRemoverOptions) {
    this.#options = options
  }

  start(): void {
    if (this.#started) return
    this.#started = true
    this.#later(0)
  }

  /** Begins nothing more and resolves when what runs has ended. */
  async stop(): Promise<void> {
    this.#started = false
    this.#timer?.cancel()
    await this.#running
  }

  /** Whether the copy may go, and is gone when this resolves. */
  async remove(name: BlobName): Promise<boolean> {
    const { ledger, locks, nodeId, store } = this.#options
    if (!this.#isCurrent) return false
    return locks.hold(name, async () => {
      if (!mayRemove(ledger.standing(name, nodeId))) return false
      await store.remove([name])
      return true
    })
  }

  metrics(): readonly MetricSample[] {
    const about = { kind: 'counter', help: 'Copies removed from this disk' } as const
    return [
      {
        ...about,
        name: 'holdfast_repair_dropped_total',
        help: `${about.help} because a committed row said so.`,
        value: this.#dropped,
      },
      {
        ...about,
        name: 'holdfast_repair_abandoned_total',
        help: `${about.help} because no row named them.`,
        value: this.#abandoned,
      },
    ]
  }

  // ---------------------------------------------------------------------------------------------

  #later(delayMs: number): void {
    if (!this.#started) return
    this.#timer = this.#options.clock.after(delayMs, () => {
      this.#running = this.#round().then(
        (isMore) => this.#later(isMore ? 0 : POLL_MS),
        (err: unknown) => {
          this.#options.logger.warn({ err }, 'copies not removed yet')
          this.#later(POLL_MS)
        },
      )
    })
  }

  /** Whether there is more to do at once. */
  async #round(): Promise<boolean> {
    if (!this.#isCurrent) await this.#options.readBarrier()
    this.#isCurrent = true
    const isMore = await this.#removeDropped()
    if (!isMore && this.#options.clock.now() >= this.#sweepAt) {
      await this.#sweep()
      this.#sweepAt = this.#options.clock.now() + SWEEP_EVERY_MS
    }
    return isMore
  }

  async #removeDropped(): Promise<boolean> {
    const { ledger, nodeId } = this.#options
    const names = await ledger.drops(nodeId, DROPS_PER_POLL)
    const gone: BlobName[] = []
    for (const name of names) if (this.#started && (await this.remove(name))) gone.push(name)
    if (gone.length === 0) return false
    await ledger.dropped(nodeId, gone)
    this.#dropped += gone.length
    return names.length === DROPS_PER_POLL
  }

  async #sweep(): Promise<void> {
    const { ledger, nodeId, store } = this.#options
    let after: BlobName | null = null
    for (;;) {
      const names: readonly BlobName[] = await store.list(after, NAMES_PER_PAGE)
      for (const name of names) {
        if (!this.#started) return
        // Asked twice: this look costs no lock, and nearly all copies stay.
        if (ledger.standing(name, nodeId) === 'abandoned' && (await this.remove(name))) this.#abandoned++
      }
      after = names.at(-1) ?? null
      if (names.length < NAMES_PER_PAGE || after === null) return
      await new Promise<void>((resolve) => this.#options.clock.after(PAUSE_MS, resolve))
    }
  }
}
