/**
 * Goes through all copies that this node holds according to the rows, and reports the missing ones to the ledger.
 *
 * Owns: the walk from rows to disk, which finds missing copies that a walk over the disk cannot see. Knows nothing of: why a copy
 * is gone.
 * Rule: a run checks every row that existed when it started; a report that fails is retried until it succeeds.
 */
import type { BlobStore } from '../blobs/base/blob-store.ts'
import type { Clock } from '../base/clock.ts'
import type { BlobRef, CopyLedger, HeldCopies, InventoryStatus, Logger, NodeId } from '../base/types.ts'
import type { CopyCheck } from './copy-check.ts'
import type { RetryLoop } from '../base/retry-loop.ts'
import type { Throttle } from './throttle.ts'

export interface InventoryParts {
  readonly nodeId: NodeId
  readonly ledger: Pick<CopyLedger, 'listed' | 'lost' | 'inventoried'>
  readonly store: Pick<BlobStore, 'areUnchanged'>
  readonly check: CopyCheck
  readonly throttle: Throttle
  readonly clock: Clock
  readonly retryLoop: RetryLoop
  readonly logger: Logger
  /** Copies were reported as lost: there may be repair tasks. */
  readonly onLost: () => void
}

const PAGE_MAX = 256
/** Frames read concurrently; the disk has other work. */
const AT_ONCE = 4
/** The cost of a frame in the rate of repair: a page of the disk. Bytes. */
const FRAME_BYTES = 4_096

export class Inventory {
  readonly #parts: InventoryParts
  #current: Promise<void> | null = null
  #next: Promise<void> | null = null
  #runs = 0
  #endedAt: number | null = null
  #copies = 0
  #lost = 0

  constructor(parts: InventoryParts) {
    this.#parts = parts
  }

  /** Resolves when a run that started after this call is complete. Throws StoppedError. */
  run(): Promise<void> {
    if (this.#current === null) return this.#begin()
    this.#next ??= this.#current.then(() => this.#begin())
    return this.#next
  }

  status(): InventoryStatus {
    const isRunning = this.#current !== null
    return { runs: this.#runs, endedAt: this.#endedAt, isRunning, copies: this.#copies, lost: this.#lost }
  }

  #begin(): Promise<void> {
    this.#next = null
    this.#current = this.#walk().finally(() => {
      this.#current = null
    })
    return this.#current
  }

  async #walk(): Promise<void> {
    const { nodeId, ledger, retryLoop, logger, clock } = this.#parts
    const before = this.#lost
    let after: string | null = null
    do {
      const from: string | null = after
      const page: HeldCopies = await retryLoop.retry('rows of copies not readable yet', () =>
        ledger.listed(nodeId, from, PAGE_MAX),
      )
      await this.#look(page.refs)
      after = page.next
    } while (after !== null)
    await retryLoop.retry('end of the inventory not reported yet', () => ledger.inventoried(nodeId))
    this.#runs++
    this.#endedAt = clock.wallTime()
    logger.info({ copies: this.#copies, lost: this.#lost - before }, 'inventory of copies done')
  }

  /** While copies are missing, the walk runs at full speed, otherwise at half. */
  async #look(refs: readonly BlobRef[]): Promise<void> {
    const { nodeId, ledger, retryLoop, onLost, store, clock } = this.#parts
    const began = clock.now()
    const areUnchanged = await retryLoop.retry('copies not checked yet', () => store.areUnchanged(refs))
    const lost = await this.#lostOf(refs.filter((_, at) => areUnchanged[at] !== true))
    this.#copies += refs.length
    if (lost.length === 0) {
      const tookMs = clock.now() - began
      if (tookMs > 0) await retryLoop.wait(tookMs)
      return
    }
    await retryLoop.retry('lost copies not reported yet', () => ledger.lost(nodeId, lost, 'inventory'))
    this.#lost += lost.length
    onLost()
  }

  async #lostOf(refs: readonly BlobRef[]): Promise<readonly BlobRef[]> {
    const { check, retryLoop, throttle } = this.#parts
    const lost: BlobRef[] = []
    for (let first = 0; first < refs.length; first += AT_ONCE) {
      const few = refs.slice(first, first + AT_ONCE).map(async (ref) => {
        const finding = await retryLoop.retry('copy not checked yet', () => check.byHeader(ref))
        if (finding.kind === 'lost') lost.push(finding.ref)
        else await throttle.pass(FRAME_BYTES)
      })
      await Promise.all(few)
    }
    return lost
  }
}
