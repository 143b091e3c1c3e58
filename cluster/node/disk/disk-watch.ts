/**
 * Notices when the disk of the log stops answering, has no space left, or is slower than the group.
 *
 * Owns: the age of the oldest write that is not durable, and what follows from it. Knows nothing of: files, threads.
 * Rule: a leader on a slow disk delays every node, so it offers the lead to others, repeatedly; a node whose disk is silent for too
 * long stops, because a disk that comes back after that is not reliable. A pause of the process is no stall.
 */
import type { LogIndex } from '../../raft/types.ts'
import type { Logger } from '../../base/types.ts'
import type { Clock } from '../../base/clock.ts'
import type { NodeLimits } from '../base/limits.ts'
import { SlowDisk } from './slow-disk.ts'

export interface DiskWatchParts {
  readonly clock: Clock
  readonly limits: NodeLimits
  readonly logger: Logger
  /** Between two offers of the lead. ms */
  readonly electionTimeoutMs: number
  /** There is too little space for new data. */
  readonly isScarce: () => boolean
  /** Hands leadership over if this node leads and another voter can take it. */
  readonly handOver: () => void
  readonly onDead: (error: Error) => void
  readonly isLeader: () => boolean
  /** To the voter with the longest log, if this node leads. */
  readonly offerLead: (target: null) => void
}

export class DiskWatch {
  readonly #parts: DiskWatchParts
  readonly #slow: SlowDisk
  /** Writes under way, oldest first. Bounded by the limits of the core. */
  #writes: { readonly sequence: number; readonly since: number }[] = []
  #isReported = false
  #isFull = false
  #nextOffer = 0
  #stalls = 0

  constructor(parts: DiskWatchParts) {
    this.#parts = parts
    this.#slow = new SlowDisk(parts)
  }

  /** Offers of the lead because others were faster, since the start. Count. */
  get slowOffers(): number {
    return this.#slow.offers
  }

  /** Stalls since the start. Count. */
  get stalls(): number {
    return this.#stalls
  }

  get isStalled(): boolean {
    return this.#isReported
  }

  /** The log has no space for more than the writes in flight. */
  get isFull(): boolean {
    return this.#isFull
  }

  /** Age of the oldest write that is not durable. ms */
  get oldestMs(): number {
    const oldest = this.#writes[0]
    return oldest ? this.#parts.clock.now() - oldest.since : 0
  }

  /** `lastIndex`: null for a write without entries. */
  onAppend(sequence: number, lastIndex: LogIndex | null = null): void {
    this.#writes.push({ sequence, since: this.#parts.clock.now() })
    if (lastIndex !== null) this.#slow.onAppend(sequence, lastIndex)
  }

  onCommitted(index: LogIndex): void {
    this.#slow.onCommitted(index)
  }

  onDurable(sequence: number): void {
    let done = 0
    for (let write = this.#writes[0]; write && write.sequence <= sequence; write = this.#writes[done])
      done += 1
    this.#writes.splice(0, done)
    this.#slow.onDurable(sequence)
    if (!this.#isReported || this.oldestMs > this.#parts.limits.diskStallMs) return
    this.#isReported = false
    this.#parts.logger.info({}, 'disk of the log answers again')
  }

  onFull(): void {
    if (this.#isFull) return
    this.#isFull = true
    this.#parts.logger.error({}, 'disk of the log is full, nothing new is taken')
    this.#offer()
  }

  /** There is space again, and a reserve for the next time. */
  onRoom(): void {
    if (!this.#isFull) return
    this.#isFull = false
    this.#parts.logger.info({}, 'disk of the log has space again')
  }

  onTick(): void {
    const { limits, logger, isScarce, onDead } = this.#parts
    const age = this.oldestMs
    if (age > limits.diskDeadMs) {
      onDead(new Error(`Disk stalled: a write of the log is not durable after ${Math.round(age)} ms`))
      return
    }
    if (age > limits.diskStallMs && !this.#isReported) {
      this.#isReported = true
      this.#stalls += 1
      logger.warn({ ageMs: Math.round(age) }, 'disk of the log is stalled')
      this.#nextOffer = 0
    }
    if ((this.#isReported || this.#isFull || isScarce()) && this.#parts.clock.now() >= this.#nextOffer)
      this.#offer()
  }

  /** The process slept: the disk may have answered meanwhile, so its time starts again. */
  onGap(): void {
    const now = this.#parts.clock.now()
    this.#writes = this.#writes.map(({ sequence }) => ({ sequence, since: now }))
    this.#slow.forget()
  }

  /** A transfer that fails is over after one election time-out. */
  #offer(): void {
    const { clock, electionTimeoutMs, handOver } = this.#parts
    this.#nextOffer = clock.now() + electionTimeoutMs
    handOver()
  }
}
