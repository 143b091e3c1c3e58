/**
 * Whom this node hears, by what the others say of themselves with every request, and what it says of itself.
 *
 * Owns: the judgement, and what each peer was found to know. Knows nothing of: headers, certificates, membership.
 * Rule: one name belongs to one data directory, and on it to the process that was started last; a node that was left behind by a
 * recovery of the group has no say, whichever side finds it out.
 */
import { type Logger, StartError } from '../../base/types.ts'
import type { EpochFloor } from '../base/epoch-floor.ts'
import { type Expulsion, expulsionOf, expulsionText } from '../base/expulsion.ts'
import { FIRST_LEVEL } from '../base/feature-level.ts'
import type { LogIndex, NodeId } from '../../raft/types.ts'
import type { PeerClaims, PeerObjection, PeerStanding, ToldClock } from '../../transport/peer-identity.ts'
import type { Registered } from '../base/sessions.ts'

/** What of it the local state knows: of a node that is being mended nothing. */
export interface GateState {
  readonly recoveryEpoch: number
  readonly featureLevel: number
  readonly appliedIndex?: LogIndex
  registered(nodeId: NodeId): Registered | null
}

export interface PeerGateParts {
  readonly nodeId: NodeId
  readonly boot: number
  /** What the code of this node knows. */
  readonly featureLevelMax: number
  readonly before: readonly number[] | null
  readonly state: () => GateState | null
  readonly epochFloor: EpochFloor
  /** Nothing was ever written to its log or applied, so it cannot have been left behind with anything. */
  readonly isBlank: () => boolean
  /** Of this node, as each request reports it. */
  readonly clock: () => ToldClock
  /** A member was heard, and said what its clock shows. */
  readonly onClock: (nodeId: NodeId, clock: ToldClock) => void
  readonly logger: Logger
  /** This node was left behind and must stop. */
  readonly onStale: (error: StartError) => void
  /** What an earlier process on this data directory was told. */
  readonly expelled: Expulsion | null
  /** Told for the first time: it is to hold for later processes as well. */
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

  /** Why others do not hear this data directory. Nothing can change that. */
  get expelled(): Expulsion | null {
    return this.#expelled
  }

  /** The same for people. */
  get farewell(): string | null {
    return this.#expelled === null ? null : expulsionText(this.#parts.nodeId, this.#expelled)
  }

  standing(): PeerStanding {
    const state = this.#parts.state()
    return {
      // An older copy that is started again and again would count up to what is registered, and be heard.
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

  /** From now on only what is heard from now on counts: what was heard before may be of processes that are gone. */
  resetPeerLevels(): void {
    this.#featureLevels.clear()
    this.#applied.clear()
  }

  /** What the peer's code knew when it was last heard; null before that. */
  featureLevelOf(peer: NodeId): number | null {
    return this.#featureLevels.get(peer) ?? null
  }

  /** The last entry in the state of the peer when it was last heard; null: it did not say. */
  appliedOf(peer: NodeId): LogIndex | null {
    return this.#applied.get(peer) ?? null
  }

  /** Null: the sender is heard. */
  judge(claims: PeerClaims): PeerObjection | null {
    if (this.farewell !== null) return { code: 'expelled', message: this.farewell }
    const state = this.#parts.state()
    // Whoever mends answers nothing anyway, and knows nothing to judge by.
    const objection = state === null ? null : this.#objectionTo(claims, state)
    if (objection !== null) return objection
    this.#featureLevels.set(claims.nodeId, claims.featureLevel)
    this.#applied.set(claims.nodeId, claims.appliedIndex ?? null)
    if (claims.clock) this.#parts.onClock(claims.nodeId, claims.clock)
    return null
  }

  /** Not null for whoever was left behind by a recovery: it hears of that before anything else. */
  staleness({ nodeId, recoveryEpoch }: PeerClaims): PeerObjection | null {
    const own = this.#epochOf(this.#parts.state())
    if (recoveryEpoch >= own) return null
    const message = `Node ${nodeId} stands at recovery epoch ${recoveryEpoch}, the group is at ${own}`
    return { code: 'stale_epoch', message }
  }

  /** A peer has told this node that it will not hear it. A blank one hears later which epoch it is. */
  onRefused(peer: NodeId, code: string): void {
    if (code === 'stale_epoch' && !this.#parts.isBlank()) this.#parts.onStale(leftBehind(peer))
    const expelled = expulsionOf(code)
    if (expelled === null || this.#expelled !== null) return
    this.#expelled = expelled
    const hint = expulsionText(this.#parts.nodeId, expelled)
    this.#parts.logger.error({ peer, code, hint }, 'other nodes do not hear this data directory')
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

  /** A blank node takes over the epoch of those it is to belong to, durably before it hears them. */
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

  /** The floor counts for a node that was brought back and has not applied that yet, and for one that has lost its state. */
  #epochOf(state: GateState | null): number {
    return Math.max(this.#parts.epochFloor.epoch, state?.recoveryEpoch ?? 0)
  }
}

/**
 * Whether the directory of this process has seen the registered one. Whoever judges may be behind: a process that was registered earlier
 * than the first one that the sender names says nothing.
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
  return new StartError(
    'stale_epoch',
    `This node was left behind: ${peer} stands at a later recovery epoch`,
    {
      hint: 'The group was brought back without this node, so what it holds may contradict the group. Move its data directory away and let it join anew.',
    },
  )
}
