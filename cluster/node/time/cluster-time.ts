/**
 * The time of a majority's wall clocks: each node reports its own with every request, and the leader passes the result on.
 *
 * Owns: the clocks reported lately, the majority's time, the offset of the own clock. Knows nothing of: sockets, logs, elections.
 * Rule: no single clock counts, not even the own one: the majority's time is the highest instant that the clocks of a majority of the
 * voters have reached, so one wrong clock in either direction changes nothing. Reports older than CLOCK_HEARD_MS do not count.
 */
import { isJoint } from '../../raft/configuration.ts'
import type { Configuration, NodeId } from '../../raft/types.ts'
import type { ReportedClock } from '../../transport/peer-identity.ts'
import type { ClockOffset } from '../../base/types.ts'
import type { Clock } from '../../base/clock.ts'

/** A clock whose report is older may have been set since. ms */
export const CLOCK_HEARD_MS = 1_000
/** A larger offset counts once it has lasted this long: a node that was suspended receives old clocks first. ms */
export const SKEW_LASTS_MS = 3_000
/** The default bound. ms */
export const CLOCK_SKEW_MAX_MS = 5_000

export interface ClusterTimeParts {
  readonly nodeId: NodeId
  readonly clock: Pick<Clock, 'now' | 'wallTime'>
  readonly skewMaxMs: number
}

/** The difference of a wall clock to the monotonic one here, when the report arrived. */
interface Sample {
  readonly offset: number
  readonly at: number
}

interface Reports {
  readonly latest: Sample
  /** The report that travelled fastest lately: delay makes a clock look late. */
  readonly best: Sample
}

export class ClusterTime {
  readonly #parts: ClusterTimeParts
  /** Bounded by the members: only their requests are accepted. */
  readonly #reported = new Map<NodeId, Reports>()
  /** The majority's time as last known. */
  #known: Sample | null = null
  /** Since when the offset of the own clock exceeds its bound; null: it does not. */
  #skewedSince: number | null = null

  constructor(parts: ClusterTimeParts) {
    this.#parts = parts
  }

  /** The clock that this node reports with each request. */
  claim(): ReportedClock {
    return { wall: Math.trunc(this.#parts.clock.wallTime()), majority: this.#fresh() }
  }

  /** `isLeader`: the majority's time that the peer reports is adopted, because it receives the clocks of all voters. */
  receive(peer: NodeId, { wall, majority }: ReportedClock, isLeader: boolean): void {
    const at = this.#parts.clock.now()
    const latest = { offset: wall - at, at }
    const before = this.#reported.get(peer)?.best
    const delayMs = before === undefined ? 0 : before.offset - latest.offset
    // That is more than delay: the clock of the peer was set back, and its earlier reports must not count any more.
    const isSet = delayMs > this.#parts.skewMaxMs
    const isBetter = before === undefined || this.#isLate(before) || delayMs <= 0 || isSet
    this.#reported.set(peer, { latest, best: isBetter ? latest : before })
    if (isLeader && majority !== null) this.#learn({ offset: majority - at, at })
  }

  /** At the leader, which receives the clocks of all voters: counts them again. Null: too few for a majority. */
  count(configuration: Configuration): number | null {
    const majority = this.#majorityOf(configuration)
    if (majority === null) return null
    const at = this.#parts.clock.now()
    this.#learn({ offset: majority - at, at })
    return Math.trunc(majority)
  }

  /** Carried on by the monotonic clock since it was known; the own clock before that. */
  now(): number {
    const { clock } = this.#parts
    return Math.trunc(this.#known === null ? clock.wallTime() : clock.now() + this.#known.offset)
  }

  /** Null: not known just now. */
  get majorityTime(): number | null {
    return this.#fresh()
  }

  /** Of the own clock. Null: not known just now. */
  get offsetMs(): number | null {
    const majority = this.#fresh()
    return majority === null ? null : Math.trunc(this.#parts.clock.wallTime() - majority)
  }

  /** Of the voters that reported lately, this node included. */
  offsets({ voters }: Configuration): readonly ClockOffset[] {
    const majority = this.#fresh()
    if (majority === null) return []
    return voters.flatMap((nodeId) => {
      const wall = this.#wallOf(nodeId)
      return wall === null ? [] : [{ nodeId, offsetMs: Math.trunc(wall - majority) }]
    })
  }

  /** Not null: the own clock was too far from the majority's time for SKEW_LASTS_MS; by how much. Ahead is positive. */
  get skewMs(): number | null {
    const since = this.#skewedSince
    if (since === null || this.#parts.clock.now() - since < SKEW_LASTS_MS) return null
    return this.offsetMs
  }

  /** Whether the clock of a voter is known to be near enough to the majority's time. */
  isNear(nodeId: NodeId): boolean {
    const majority = this.#fresh()
    const wall = this.#wallOf(nodeId)
    return majority !== null && wall !== null && Math.abs(wall - majority) <= this.#parts.skewMaxMs
  }

  #learn(known: Sample): void {
    this.#known = known
    const offset = this.offsetMs ?? 0
    if (Math.abs(offset) <= this.#parts.skewMaxMs) this.#skewedSince = null
    else this.#skewedSince ??= known.at
  }

  #fresh(): number | null {
    return this.#known === null || this.#isLate(this.#known) ? null : this.now()
  }

  #majorityOf(configuration: Configuration): number | null {
    const present = this.#reachedBy(configuration.voters)
    if (!isJoint(configuration)) return present
    const outgoing = this.#reachedBy(configuration.outgoing)
    return present === null || outgoing === null ? null : Math.min(present, outgoing)
  }

  /** The highest instant that a majority of these have reached; null: too few are known. */
  #reachedBy(voters: readonly NodeId[]): number | null {
    const walls = voters.map((nodeId) => this.#wallOf(nodeId)).filter((wall) => wall !== null)
    const majority = Math.floor(voters.length / 2) + 1
    return walls.toSorted((a, b) => b - a)[majority - 1] ?? null
  }

  /** The present value, carried on since the report; null: no recent report. */
  #wallOf(nodeId: NodeId): number | null {
    const { clock } = this.#parts
    if (nodeId === this.#parts.nodeId) return clock.wallTime()
    const reports = this.#reported.get(nodeId)
    if (reports === undefined || this.#isLate(reports.latest)) return null
    const { offset } = this.#isLate(reports.best) ? reports.latest : reports.best
    return clock.now() + offset
  }

  #isLate({ at }: Sample): boolean {
    return this.#parts.clock.now() - at > CLOCK_HEARD_MS
  }
}
