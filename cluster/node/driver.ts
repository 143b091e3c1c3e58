/**
 * Turns each effect of the Raft core into disk writes, sends, applies and replies, and their outcomes into inputs.
 *
 * Owns: the running parts of one node and who hears of what. Knows nothing of: elections and quorums, start and stop.
 * Rule: it begins effects in the order in which the core gave them and never waits in between; what promises something is held back
 * by the core itself until the log says that it is durable.
 */
import { Raft } from '../raft/raft.ts'
import { membersOf } from '../raft/configuration.ts'
import type { Effect, Entry, NodeId, RaftStatus } from '../raft/types.ts'
import { Condition } from '../base/types.ts'
import {
  type CallHandler,
  type IncomingCall,
  type OutgoingAnswer,
  PeerRefusedError,
  type TransportEvents,
} from '../transport/transport.ts'
import { assert } from '../base/assert.ts'
import type { Applier, Completion } from './state/applier.ts'
import { ApplyFlow } from './proposals/apply-flow.ts'
import { Batcher } from './proposals/batcher.ts'
import { ClockWatch } from './time/clock-watch.ts'
import type { ClusterTime } from './time/cluster-time.ts'
import { CoreLoop } from './base/core-loop.ts'
import type { DiskWatch } from './disk/disk-watch.ts'
import { type DiskWatches, watchDisks } from './disk/disk-watches.ts'
import type { NodeLimits } from './base/limits.ts'
import type { SessionId } from './base/log-entry.ts'
import { LevelRaise, levelsHeard } from './lifecycle/level-raise.ts'
import { LocalState } from './state/local-state.ts'
import { LogReadBack } from './log/log-read-back.ts'
import { LogSource } from './log/log-source.ts'
import { MembershipChanges } from './membership-changes.ts'
import { electionTicksOf, type NodeOptions, type NodeParts } from './base/options.ts'
import { fatalOf, PeerDoubts } from './peers/peer-doubts.ts'
import type { PeerGate } from './peers/peer-gate.ts'
import { forwardProposals, PROPOSE_METHOD, proposeHandler } from './proposals/propose-call.ts'
import { Proposals } from './proposals/proposals.ts'
import { ReadBarriers } from './reads/read-barriers.ts'
import type { Recovered } from './log/log-recovery.ts'
import type { RoomWatch } from './base/room-watch.ts'
import type { Route } from './base/route.ts'
import { Ticker } from './ticker.ts'

export interface DriverParts extends NodeParts {
  readonly limits: NodeLimits
  readonly recovered: Recovered
  readonly gate: PeerGate
  readonly time: ClusterTime
  /** The node cannot go on. The driver is mute already. */
  readonly onFatal: (error: Error) => void
}

export class Driver {
  readonly #options: NodeOptions
  readonly #parts: DriverParts
  readonly #loop: CoreLoop
  readonly #ticker: Ticker
  readonly #batcher: Batcher
  readonly #flow: ApplyFlow
  readonly state: LocalState
  readonly proposals: Proposals
  readonly reads: ReadBarriers
  readonly gate: PeerGate
  readonly disk: DiskWatch
  readonly readBack: LogReadBack
  readonly room: RoomWatch
  readonly membership: MembershipChanges
  readonly levels: LevelRaise
  readonly clocks: ClockWatch
  readonly doubts: PeerDoubts
  readonly #handlers: ReadonlyMap<string, CallHandler>
  /** Wakes who waits for another leader. Bounded: `stop` waits, and operators who asked for it. */
  readonly #routeWaiters = new Set<() => void>()
  #route: Route
  #leaderChanges = 0
  #appendedSequence = 0
  #durableSequence = 0
  constructor(options: NodeOptions, parts: DriverParts) {
    this.#options = options
    this.#parts = parts
    this.gate = parts.gate
    this.doubts = new PeerDoubts(parts.logger)
    const { heartbeatMs, electionTimeoutMs } = options
    const { restored } = parts.recovered
    this.#route = { term: restored.hardState.currentTerm, leaderId: null, isLeader: false }
    this.#loop = this.#makeLoop()
    const onTick = (kind: 'tick' | 'tickGap'): void => this.#onTick(kind)
    this.#ticker = new Ticker({ ...parts, heartbeatMs, gapMs: electionTimeoutMs, onTick })
    const { disk, room } = this.#makeDisks()
    this.disk = disk
    this.room = room
    this.clocks = this.#makeClocks()
    this.readBack = new LogReadBack(parts.wal, this.#submit)
    this.#batcher = new Batcher({
      ...parts,
      stamp: () => this.clocks.stamp(),
      submit: this.#submit,
      isLogBusy: () => this.#durableSequence < this.#appendedSequence,
      objection: (need) => (this.room.refusal(need) === null ? this.#flow.objection : 'diskFull'),
    })
    this.#flow = this.#makeFlow()
    this.state = this.#makeState()
    this.proposals = this.#makeProposals()
    this.reads = new ReadBarriers({
      ...parts,
      submit: this.#submit,
      appliedIndex: () => this.applier.appliedIndex,
      hasLeader: () => this.#route.leaderId !== null,
      unreadable: () => this.gate.farewell ?? this.state.rebuild.reason,
      hasLeft: () => this.gate.farewell !== null,
    })
    this.membership = new MembershipChanges({
      ...parts,
      submit: this.#submit,
      leaderId: () => this.#route.leaderId,
    })
    this.levels = new LevelRaise({
      ...parts,
      known: parts.limits.featureLevelMax,
      present: () => this.applier.featureLevel,
      route: () => this.#route,
      others: () => levelsHeard(this.#peers(), this.gate, this.applier),
      size: () => this.#peers().length + 1,
      raise: (level, settle) => this.#batcher.raise(level, settle),
    })
    this.#handlers = this.#makeHandlers()
  }

  #makeLoop(): CoreLoop {
    const { nodeId, random } = this.#options
    const { limits, recovered } = this.#parts
    const electionTicks = electionTicksOf(this.#options)
    const raft = new Raft({ nodeId, electionTicks, random, limits: limits.raft }, recovered.restored)
    return new CoreLoop(raft, { begin: (effect) => this.#begin(effect), onBug: this.#onFatal })
  }

  #makeClocks(): ClockWatch {
    return new ClockWatch({
      ...this.#parts,
      status: () => this.#loop.status(),
      isLeader: () => this.#route.isLeader,
      level: () => this.applier.featureLevel,
      logTime: () => this.applier.time.time,
      transfer: (target) => this.#loop.submit({ type: 'transferLeadership', target }),
      stampTime: () => this.#batcher.stampTime(),
    })
  }

  #makeFlow(): ApplyFlow {
    return new ApplyFlow({
      ...this.#parts,
      status: () => this.status(),
      appliedIndex: () => this.applier.appliedIndex,
      committedAfter: (index) => this.#loop.unapplied(index),
      silentTicksMax: electionTicksOf(this.#options),
    })
  }

  #makeDisks(): DiskWatches {
    return watchDisks(this.#options, this.#parts, {
      isLeader: () => this.#route.isLeader,
      offerLead: (target) => this.#offerLead(target),
      voters: () => this.#loop.status().configuration.voters,
      onDead: this.#onFatal,
    })
  }

  #makeState(): LocalState {
    return new LocalState({
      ...this.#parts,
      options: this.#options,
      session: this.#session,
      submit: this.#submit,
      route: () => this.#route,
      peers: () => this.#peers(),
      handOver: () => this.#offerLead(),
      onApplied: (completions) => this.#onApplied(completions),
      onInstalled: () => this.#onInstalled(),
      onFatal: this.#onFatal,
    })
  }

  #makeProposals(): Proposals {
    return new Proposals({
      ...this.#parts,
      session: this.#session,
      route: () => this.#route,
      lacksRoom: (need) => this.room.refusal(need),
      unreadable: () => this.gate.farewell ?? this.state.rebuild.reason,
      hasLeft: () => this.gate.farewell !== null,
      offer: (proposal, settle) => this.#batcher.add(proposal, settle),
      forward: (leader, proposals, signal) => forwardProposals({ ...this.#parts, signal }, leader, proposals),
    })
  }

  #makeHandlers(): ReadonlyMap<string, CallHandler> {
    const isOpen = (): boolean => !this.#loop.isMute
    return new Map([
      [PROPOSE_METHOD, proposeHandler(this.#batcher, this.#parts.limits, isOpen)],
      ...new LogSource({
        loop: this.#loop,
        wal: this.#parts.wal,
        proposals: this.proposals,
        logger: this.#parts.logger,
      }).handlers,
      ...this.state.handlers,
    ])
  }

  get route(): Route {
    return this.#route
  }

  get leaderChanges(): number {
    return this.#leaderChanges
  }

  get applier(): Applier {
    return this.state.applier
  }

  status(): RaftStatus {
    return this.#loop.status()
  }

  /** What peers may ask of a node that takes part: one of DRIVER_METHODS. */
  readonly answer = async (method: string, call: IncomingCall): Promise<OutgoingAnswer> => {
    if (this.#loop.isMute) throw new PeerRefusedError('shutting_down', 'This node is stopping')
    const handler = this.#handlers.get(method)
    assert(handler !== undefined, `'${method}' is a method of the driver`)
    return handler(call)
  }

  readonly transportEvents: TransportEvents = {
    onMessages: (messages) => {
      for (const message of messages) this.#loop.submit({ type: 'message', message })
      this.disk.onCommitted(this.#loop.commitIndex)
    },
    onUnreachable: (peer) => this.#loop.submit({ type: 'peerUnreachable', peer }),
  }

  start(): void {
    this.#ticker.start()
    this.state.guard.start()
  }

  /** What lies here counts like what lies anywhere else. */
  diskProved(): void {
    this.#loop.submit({ type: 'diskProved' })
  }

  onDurable(sequence: number): void {
    this.disk.onDurable(sequence)
    this.#durableSequence = sequence
    this.#loop.submit({ type: 'walDone', sequence })
    this.#batcher.flush()
  }

  /** Resolves when this node does not lead any more. */
  async handOver(target: NodeId | null = null): Promise<void> {
    if (!this.#route.isLeader || this.#loop.status().configuration.voters.length === 1) return
    const gone = new Promise<void>((resolve) => this.#routeWaiters.add(resolve))
    this.#loop.submit({ type: 'transferLeadership', target })
    await gone
  }

  /** Nothing is begun, sent or promised after it returns; whoever waits is told `why`. */
  mute(why: Condition): void {
    this.#ticker.stop()
    this.#loop.mute()
    this.#route = { term: this.#route.term, leaderId: null, isLeader: false }
    // The askers first: they must not take the batcher's last word for a refusal that proves nothing was logged.
    this.proposals.close(why)
    this.reads.close(why)
    this.membership.close(why)
    this.levels.close()
    this.state.mute()
    this.#batcher.close()
  }

  #peers(): readonly NodeId[] {
    return membersOf(this.#loop.status().configuration).filter((peer) => peer !== this.#options.nodeId)
  }

  #offerLead(target: NodeId | null = null): void {
    if (this.#route.isLeader) this.#loop.submit({ type: 'transferLeadership', target })
  }

  get #session(): SessionId {
    const { nodeId, incarnation, boot } = this.#options
    return { nodeId, incarnation, boot }
  }

  readonly #submit: CoreLoop['submit'] = (input) => this.#loop.submit(input)
  readonly #onFatal = (cause: Error): void => {
    const error = fatalOf(this.#options.nodeId, cause)
    this.mute(new Condition('shutting_down', 'This node has failed and stops', { cause: error }))
    this.#parts.onFatal(error)
  }

  #begin(effect: Effect): void {
    switch (effect.type) {
      case 'appendWal':
        this.#appendedSequence = effect.sequence
        this.disk.onAppend(effect.sequence, effect.entries.at(-1)?.index ?? null)
        return this.#parts.wal.append(effect)
      case 'readLog':
        return void this.readBack.begin(effect)
      case 'send':
        // Nobody hears it; silence keeps the logs of the others short.
        return this.gate.expelled === null ? this.#parts.transport.send(effect.message) : undefined
      case 'apply':
        return this.#onCommitted(effect.entries)
      case 'proposalAccepted':
        if (this.membership.isMine(effect.proposalId))
          return this.membership.onAccepted(effect.proposalId, effect.index)
        return this.#batcher.onAccepted(effect.proposalId, effect.term, effect.index)
      case 'proposalRefused':
        if (this.membership.isMine(effect.proposalId))
          return this.membership.onRefused(effect.proposalId, effect.reason)
        return this.#batcher.onRefused(effect.proposalId, effect.reason)
      case 'readReady':
        return this.reads.onReady(effect.readId, effect.index)
      case 'readRefused':
        return this.reads.onRefused(effect.readId)
      case 'fetchSnapshot':
        return this.state.fetch(effect.from, effect.atLeast)
      case 'peerDoubted':
      case 'peerForgot':
        return this.doubts.on(effect)
      case 'roleChanged':
        return this.#onRoleChanged(effect)
    }
  }

  #onCommitted(entries: readonly Entry[]): void {
    this.applier.push(entries)
    const last = entries.at(-1)
    // At once: the news of the commit and the next entry then share one message to each peer.
    if (last !== undefined) this.#batcher.onCommitted(last.index)
  }

  #onRoleChanged({ role, term, leaderId }: Extract<Effect, { type: 'roleChanged' }>): void {
    const isLeader = role === 'leader'
    if (leaderId !== null && leaderId !== this.#route.leaderId) this.#leaderChanges += 1
    this.#route = { term, leaderId, isLeader }
    this.#parts.logger.info({ term, leader: leaderId, isLeader, role }, 'leadership seen')
    this.proposals.onRoute()
    this.reads.onRoute()
    if (isLeader) return this.gate.resetPeerLevels()
    this.#batcher.onLeadershipLost()
    for (const wake of this.#routeWaiters) wake()
    this.#routeWaiters.clear()
  }

  #onTick(kind: 'tick' | 'tickGap'): void {
    if (kind === 'tickGap') this.disk.onGap()
    this.#loop.submit({ type: kind })
    this.room.onTick()
    this.disk.onTick()
    this.proposals.onTick()
    this.reads.onTick()
    this.membership.onTick()
    this.levels.onTick()
    this.clocks.onTick()
  }

  #onApplied(completions: readonly Completion[]): void {
    if (this.#loop.isMute) return
    this.#loop.submit({ type: 'applied', index: this.applier.appliedIndex })
    for (const { sequence, reply } of completions) this.proposals.onApplied(sequence, reply)
    this.#onState()
    this.#compact()
  }

  #onInstalled(): void {
    this.proposals.onInstalled((sequence) => this.applier.hasTakenEffect(sequence))
    this.#onState()
  }

  #onState(): void {
    this.reads.onApplied()
    this.membership.onApplied(this.applier.configuration, this.applier.configurationIndex)
    this.levels.onApplied()
  }

  #compact(): void {
    const index = this.state.keeper.takeCompactable(() => this.state.pins(this.status(), this.disk))
    if (index === null) return
    this.#loop.submit({ type: 'compact', index })
    const { base } = this.#loop.status()
    if (base.index === index) this.#parts.wal.compact(base)
  }
}
