/**
 * Which peers this node accepts, by the claims that they send with every request, and the claims that it sends itself.
 *
 * Owns: the judgement, and the last known levels and applied index of each peer. Knows nothing of: headers, certificates, membership.
 * Rule: one name belongs to one data directory, and on it to the process that was started last; a node that was left behind by a
 * recovery of the group is refused, regardless of which side finds out.
 */
import { type Logger, StartError } from '../../base/types.ts'
import type { EpochFloor } from '../base/epoch-floor.ts'
import { type Expulsion, expulsionOf, expulsionText } from '../base/expulsion.ts'
import { FIRST_LEVEL } from '../base/feature-level.ts'
import type { LogIndex, NodeId } from '../../raft/types.ts'
import type { PeerClaims, PeerObjection, PeerStatus, ReportedClock } from '../../transport/peer-identity.ts'
import type { Registered } from '../base/proposal-sessions.ts'

/** What the local state knows of peers: nothing while the log of this node is being repaired. */
export interface GateState {
  readonly recoveryEpoch: number
  readonly featureLevel: number
  readonly appliedIndex?: LogIndex
  registered(nodeId: NodeId): Registered | null
}

export interface PeerGateParts {
  readonly nodeId: NodeId
  readonly boot: number
  /** The highest level that the code of this node knows. */
  readonly featureLevelMax: number
  readonly before: readonly number[] | null
  readonly state: () => GateState | null
  readonly epochFloor: EpochFloor
  /** Nothing was ever written to the log or applied here, so this node cannot have been left behind. */
  readonly isBlank: () => boolean
  /** Of this node, as each request reports it. */
  readonly clock: () => ReportedClock
  /** A request of a member was accepted and reported its clock. */
  readonly onClock: (nodeId: NodeId, clock: ReportedClock) => void
  readonly logger: Logger
  /** This node was left behind and must stop. */
  readonly onStale: (error: StartError) => void
  /** The removal notice that an earlier process on this data directory received. */
  readonly expelled: Expulsion | null
  /** The first removal notice: it must hold for later processes as well. */
  readonly onExpelled: (expulsion: Expulsion) => void
}

export class PeerGate {
  readonly #parts: PeerGateParts
  /** Bounded by the members: only they are judged. */
  readonly #featureLevels = new Map<NodeId, number>()
  readonly #applied = new Map<NodeId, LogIndex | null>()
  #expelled: Expulsion | null

  constructor(parts: PeerGateParts) {
    this.#parts = parts
    const { expelled, nodeId, logger } = parts
    this.#expelled = expelled
    if (expelled !== null)
      logger.error({ code: expelled, hint: expulsionText(nodeId, expelled) }, 'this data directory has left')
  }

  /** Why other nodes refuse this data directory. Permanent. */
  get expelled(): Expulsion | null {
    return this.#expelled
  }

  /** The same as text for people. */
  get removalNotice(): string | null {
    return this.#expelled === null ? null : expulsionText(this.#parts.nodeId, this.#expelled)
  }

  peerStatus(): PeerStatus {
    const state = this.#parts.state()
    return {
      // An older copy that is restarted often enough would count up to the registered process, and be accepted.
      ...(this.#expelled === 'member_rolled_back'
        ? { boot: 0, before: null }
        : { boot: this.#parts.boot, before: this.#parts.before }),
      recoveryEpoch: this.#epochOf(state),
      featureLevel: this.#parts.featureLevelMax,
      stateLevel: state?.featureLevel ?? FIRST_LEVEL,
      ...(state?.appliedIndex === undefined ? {} : { appliedIndex: state.appliedIndex }),
      clock: this.#parts.clock(),
    }
  }

  /** Only claims from now on count: earlier ones may be of processes that have ended. */
  resetPeerLevels(): void {
    this.#featureLevels.clear()
    this.#applied.clear()
  }

  /** The level that the peer's code knew in its last request; null before its first. */
  featureLevelOf(peer: NodeId): number | null {
    return this.#featureLevels.get(peer) ?? null
  }

  /** The last entry in the state of the peer as of its last request; null: not reported. */
  appliedOf(peer: NodeId): LogIndex | null {
    return this.#applied.get(peer) ?? null
  }

  /** Null: the request is accepted. */
  judge(claims: PeerClaims): PeerObjection | null {
    if (this.removalNotice !== null) return { code: 'expelled', message: this.removalNotice }
    const state = this.#parts.state()
    // A node that repairs its log answers nothing in any case, and has nothing to judge by.
    const objection = state === null ? null : this.#objectionTo(claims, state)
    if (objection !== null) return objection
    this.#featureLevels.set(claims.nodeId, claims.featureLevel)
    this.#applied.set(claims.nodeId, claims.appliedIndex ?? null)
    if (claims.clock) this.#parts.onClock(claims.nodeId, claims.clock)
    return null
  }

  /** Not null for a node that was left behind by a recovery: it gets this answer before any other. */
  staleness({ nodeId, recoveryEpoch }: PeerClaims): PeerObjection | null {
    const own = this.#epochOf(this.#parts.state())
    if (recoveryEpoch >= own) return null
    const message = `Node ${nodeId} is at recovery epoch ${recoveryEpoch}, the group is at ${own}`
    return { code: 'stale_epoch', message }
  }

  /** A peer has refused this node permanently. A blank node learns its epoch later. */
  onRefused(peer: NodeId, code: string): void {
    if (code === 'stale_epoch' && !this.#parts.isBlank()) this.#parts.onStale(leftBehind(peer))
    const expelled = expulsionOf(code)
    if (expelled === null || this.#expelled !== null) return
    this.#expelled = expelled
    const hint = expulsionText(this.#parts.nodeId, expelled)
    this.#parts.logger.error({ peer, code, hint }, 'other nodes refuse this data directory')
    this.#parts.onExpelled(expelled)
  }

  #objectionTo(claims: PeerClaims, state: GateState): PeerObjection | null {
    const { nodeId, incarnation, boot, before = null, recoveryEpoch, stateLevel } = claims
    const { featureLevelMax } = this.#parts
    const stale = this.staleness(claims) ?? this.#ownStaleness(nodeId, recoveryEpoch, state)
    if (stale !== null) return stale
    if (stateLevel > featureLevelMax) {
      const message = `The state of node ${nodeId} is at feature level ${stateLevel}, node ${this.#parts.nodeId} knows ${featureLevelMax}: upgrade it`
      return { code: 'feature_level_too_high', message }
    }
    const registered = state.registered(nodeId)
    if (registered === null) return null
    if (registered.incarnation !== incarnation) {
      const message = `Node ${nodeId} is registered with another data directory than ${incarnation}`
      return { code: 'member_tombstoned', message }
    }
    if (descendsFrom({ boot, before }, registered.boot)) return null
    const message = `Node ${nodeId} speaks as process ${boot} of its data directory, and process ${registered.boot} has registered: this is an older copy, or another one runs`
    return { code: 'member_rolled_back', message }
  }

  /** A blank node takes over the epoch of its group, durably before it accepts a request. */
  #ownStaleness(peer: NodeId, recoveryEpoch: number, state: GateState): PeerObjection | null {
    if (recoveryEpoch === this.#epochOf(state)) return null
    const { epochFloor, isBlank, nodeId, onStale } = this.#parts
    if (isBlank()) {
      epochFloor.raise(recoveryEpoch)
      return null
    }
    onStale(leftBehind(peer))
    return { code: 'shutting_down', message: `Node ${nodeId} was left behind by a recovery and stops` }
  }

  /** The floor counts for a recovered node that has not applied the recovery yet, and for a node that has lost its state. */
  #epochOf(state: GateState | null): number {
    return Math.max(this.#parts.epochFloor.epoch, state?.recoveryEpoch ?? 0)
  }
}

/**
 * Whether the directory of this process has seen the registered one. The judging node may be behind: a registered process that is older
 * than the first one that the sender names proves nothing.
 */
function descendsFrom(
  { boot, before }: { readonly boot: number; readonly before: readonly number[] | null },
  registered: number,
): boolean {
  if (before === null) return boot >= registered
  const first = before[0] ?? boot
  return registered <= first || registered === boot || before.includes(registered)
}

function leftBehind(peer: NodeId): StartError {
  return new StartError('stale_epoch', `This node was left behind: ${peer} is at a later recovery epoch`, {
    hint: 'The group was brought back without this node, so what it holds may contradict the group. Move its data directory away and let it join again.',
  })
}
