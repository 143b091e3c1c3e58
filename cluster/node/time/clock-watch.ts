/**
 * The uses of the majority's time at this node: the stamp of entries, the end of a lead with a wrong clock.
 *
 * Owns: when the lead is handed over for the clock, when an idle log gets a stamp. Knows nothing of: how a majority is counted.
 * Rule: a leader never stamps its own clock where other nodes report theirs; the time does not depend on which node leads, so a
 * node with a wrong clock still leads where no other node can.
 */
import type { NodeId, RaftStatus } from '../../raft/types.ts'
import type { Logger } from '../../base/types.ts'
import type { Clock } from '../../base/clock.ts'
import type { ClusterTime } from './cluster-time.ts'
import { TIME_LEVEL } from '../base/log-time.ts'

/** How often a leader with nothing to write stamps an entry, so that the next step of the time is a short one. ms */
export const TIME_ENTRY_EVERY_MS: number = 3_600_000
/** Between two attempts to hand over, or to stamp. ms */
const RETRY_EVERY_MS = 5_000

export interface ClockWatchParts {
  readonly clock: Clock
  readonly time: ClusterTime
  readonly status: () => Pick<RaftStatus, 'configuration' | 'peers'>
  readonly isLeader: () => boolean
  /** Of the state. */
  readonly level: () => number
  /** Of the last entry applied. ms since 1970 */
  readonly logTime: () => number
  readonly transfer: (target: NodeId) => void
  readonly stampTime: () => void
  readonly logger: Logger
}

export class ClockWatch {
  readonly #parts: ClockWatchParts
  #handedOverAt = Number.NEGATIVE_INFINITY
  #stampedAt = Number.NEGATIVE_INFINITY
  #isReported = false

  constructor(parts: ClockWatchParts) {
    this.#parts = parts
  }

  get time(): ClusterTime {
    return this.#parts.time
  }

  /** 0: no majority is known, and the time of the log stays where it is. A group with older nodes uses the leader's clock. */
  stamp(): number {
    const { time, status, level, clock } = this.#parts
    const majority = time.count(status().configuration)
    if (majority !== null) return majority
    return level() < TIME_LEVEL ? Math.trunc(clock.wallTime()) : 0
  }

  onTick(): void {
    const { isLeader, time, status } = this.#parts
    const majority = isLeader() ? time.count(status().configuration) : null
    this.#tell()
    if (!isLeader()) return
    if (majority !== null) this.#keepTime(majority)
    if (time.skewMs !== null) this.#handOver()
  }

  #keepTime(majority: number): void {
    const { clock, level, logTime, stampTime } = this.#parts
    const isDue = level() >= TIME_LEVEL && majority - logTime() >= TIME_ENTRY_EVERY_MS
    if (!isDue || clock.now() - this.#stampedAt < RETRY_EVERY_MS) return
    this.#stampedAt = clock.now()
    stampTime()
  }

  /** Only to a voter whose clock is right: among wrong clocks the lead would wander without end. */
  #handOver(): void {
    const { clock, time, transfer, logger } = this.#parts
    if (clock.now() - this.#handedOverAt < RETRY_EVERY_MS) return
    const target = this.#target()
    if (target === undefined) return
    this.#handedOverAt = clock.now()
    logger.warn({ offsetMs: time.skewMs, target }, 'hands over: the clock of this node is wrong')
    transfer(target)
  }

  /** Of the voters that could lead, the one with the longest log. */
  #target(): NodeId | undefined {
    const { time, status } = this.#parts
    const { configuration, peers } = status()
    const fit = peers.filter(({ nodeId }) => configuration.voters.includes(nodeId) && time.isNear(nodeId))
    return fit.toSorted((a, b) => b.matchIndex - a.matchIndex)[0]?.nodeId
  }

  #tell(): void {
    const { time, logger } = this.#parts
    const offsetMs = time.skewMs
    if (offsetMs !== null && !this.#isReported) logger.error({ offsetMs }, 'the clock of this node is wrong')
    if (offsetMs === null && this.#isReported) logger.info({}, 'the clock of this node is right again')
    this.#isReported = offsetMs !== null
  }
}
