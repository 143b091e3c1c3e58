/**
 * Notices that the disk of this leader is slower than the group: others commit what it has not flushed yet.
 *
 * Owns: when each of the last writes was started, committed and durable here. Knows nothing of: files, which node leads then.
 * Rule: only the leader's own disk is compared, with a majority that committed without it. If all disks are equally slow the lead
 * stays, and a leader whose disk is as good as the others' never gives the lead away for this.
 */
import type { LogIndex } from '../../raft/types.ts'
import type { Logger } from '../../base/types.ts'
import type { Clock } from '../../base/clock.ts'

export interface SlowDiskParts {
  readonly clock: Clock
  readonly logger: Logger
  readonly isLeader: () => boolean
  /** To the voter with the longest log. */
  readonly offerLead: (target: null) => void
}

/** The writes that count: at least and at most so many, and none that is older. Count and ms. */
const WRITES_MIN = 32
const WRITES_MAX = 128
const WRITES_AGE_MS = 60_000
/** A disk that flushes in less is fast enough, regardless of the others. ms, mean */
const FLUSH_MS_LEAST = 20
/** Of the writes: committed by others before they were durable here. */
const OVERTAKEN_SHARE = 0.75
/** Of the time that a flush takes here: the part in which others have finished already. */
const WAIT_SHARE = 0.5

interface Write {
  readonly sequence: number
  readonly lastIndex: LogIndex
  readonly startedAt: number
  committedAt: number | null
}

interface Flushed {
  readonly at: number
  readonly flushMs: number
  /** How long the others waited for nothing but this disk; 0: they were not ahead. */
  readonly aheadMs: number
}

export class SlowDisk {
  readonly #parts: SlowDiskParts
  /** Under way, oldest first. Bounded by the limits of the core. */
  #writes: Write[] = []
  #flushed: Flushed[] = []
  /** How often the lead was offered for this since the start. Count. */
  offers = 0

  constructor(parts: SlowDiskParts) {
    this.#parts = parts
  }

  onAppend(sequence: number, lastIndex: LogIndex): void {
    if (!this.#parts.isLeader()) return this.forget()
    this.#writes.push({ sequence, lastIndex, startedAt: this.#parts.clock.now(), committedAt: null })
  }

  onCommitted(index: LogIndex): void {
    const now = this.#parts.clock.now()
    for (const write of this.#writes) if (write.lastIndex <= index) write.committedAt ??= now
  }

  onDurable(sequence: number): void {
    const now = this.#parts.clock.now()
    for (let write = this.#writes[0]; write && write.sequence <= sequence; write = this.#writes[0]) {
      this.#writes.shift()
      const aheadMs = write.committedAt === null ? 0 : now - write.committedAt
      this.#flushed.push({ at: now, flushMs: now - write.startedAt, aheadMs })
    }
    if (this.#flushed.length > WRITES_MAX) this.#flushed.splice(0, this.#flushed.length - WRITES_MAX)
    this.#judge(now)
  }

  /** Another leadership has its own writes, and a sleep of the process proves nothing about a disk. */
  forget(): void {
    this.#writes = []
    this.#flushed = []
  }

  #judge(now: number): void {
    this.#flushed = this.#flushed.filter(({ at }) => at > now - WRITES_AGE_MS)
    const count = this.#flushed.length
    if (count < WRITES_MIN || !this.#parts.isLeader()) return
    const sum = (of: (one: Flushed) => number): number => this.#flushed.reduce((all, one) => all + of(one), 0)
    const flushMs = sum((one) => one.flushMs) / count
    const aheadMs = sum((one) => one.aheadMs) / count
    const overtaken = sum((one) => (one.aheadMs > 0 ? 1 : 0)) / count
    if (flushMs < FLUSH_MS_LEAST || overtaken < OVERTAKEN_SHARE || aheadMs < WAIT_SHARE * flushMs) return
    this.offers += 1
    this.#parts.logger.warn({ flushMs, aheadMs, writes: count }, 'disk of the log is slower than the group')
    // The next look needs as many new writes.
    this.forget()
    this.#parts.offerLead(null)
  }
}
