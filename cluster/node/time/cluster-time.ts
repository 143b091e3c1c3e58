/**
 * What a majority's wall clocks say: each node tells its own with every request, and the leader passes the result on.
 *
 * Owns: the clocks reported lately, the majority's time, how far the own clock is from it. Knows nothing of: sockets, logs, who leads.
 * Rule: no clock counts alone, the own one neither: the majority's time is the highest instant that the clocks of a majority of the
 * voters have reached, so one wrong clock in either direction changes nothing. What was not heard for CLOCK_HEARD_MS does not count.
 */
import { isJoint } from '../../raft/configuration.ts'
import type { Configuration, NodeId } from '../../raft/types.ts'
import type { ToldClock } from '../../transport/peer-identity.ts'
import type { ClockOffset } from '../../base/types.ts'
import type { Clock } from '../../base/clock.ts'

/** A clock that was heard longer ago may have been set since. ms */
export const CLOCK_HEARD_MS = 1_000
/** Further apart counts once it has lasted this long: a node that was suspended hears old clocks first. ms */
export const SKEW_LASTS_MS = 3_000
/** Where no other bound is given. ms */
export const CLOCK_SKEW_MAX_MS = 5_000

export interface ClusterTimeParts {
  readonly nodeId: NodeId
  readonly clock: Pick<Clock, 'now' | 'wallTime'>
  readonly skewMaxMs: number
}

/** The difference of a wall clock to the monotonic one here, when it was heard. */
interface Sample {
  readonly offset: number
  readonly at: number
}

interface Told {
  readonly latest: Sample
  /** The one that travelled fastest lately: delay makes a clock look late. */
  readonly best: Sample
}

export class ClusterTime {
  readonly #parts: ClusterTimeParts
  /** Bounded by the members: only they are heard. */
  readonly #told = new Map<NodeId, Told>()
  /** What the majority's time was last known to be. */
  #known: Sample | null = null
  /** Since when the own clock is further off than it may be; null: it is not. */
  #skewedSince: number | null = null

  constructor(parts: ClusterTimeParts) {
    this.#parts = parts
  }

  /** What this node tells with each request. */
  claim(): ToldClock {
    return { wall: Math.trunc(this.#parts.clock.wallTime()), majority: this.#fresh() }
  }

  /** `isLeader`: its word on the majority's time is taken, for it hears all voters. */
  heard(peer: NodeId, { wall, majority }: ToldClock, isLeader: boolean): void {
    const at = this.#parts.clock.now()
    const latest = { offset: wall - at, at }
    const before = this.#told.get(peer)?.best
    const delayMs = before === undefined ? 0 : before.offset - latest.offset
    // So much is no delay: its clock was set back, and its earlier reports must not count any more.
    const isSet = delayMs > this.#parts.skewMaxMs
    const isBetter = before === undefined || this.#isLate(before) || delayMs <= 0 || isSet
    this.#told.set(peer, { latest, best: isBetter ? latest : before })
    if (isLeader && majority !== null) this.#learn({ offset: majority - at, at })
  }

  /** At the leader, which hears all voters: counts the clocks once more. Null: fewer than a majority were heard. */
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

  /** Of the voters heard lately, this node included. */
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

  /** As it stands now, carried on since it was heard; null: not heard lately. */
  #wallOf(nodeId: NodeId): number | null {
    const { clock } = this.#parts
    if (nodeId === this.#parts.nodeId) return clock.wallTime()
    const told = this.#told.get(nodeId)
    if (told === undefined || this.#isLate(told.latest)) return null
    const { offset } = this.#isLate(told.best) ? told.latest : told.best
    return clock.now() + offset
  }

  #isLate({ at }: Sample): boolean {
    return this.#parts.clock.now() - at > CLOCK_HEARD_MS
  }
}
