/**
 * Turns each effect of the Raft core into disk writes, sends, applies and replies, and their outcomes into inputs.
 *
 * Owns: the running parts of one node, and which part is notified of what. Knows nothing of: elections and quorums, start and stop.
 * Rule: it starts effects in the order in which the core gave them and never waits in between; the core itself holds a promise back
 * until the log has confirmed that it is durable.
 */
import { Raft } from '../raft/raft.ts'
import { membersOf } from '../raft/configuration.ts'
import type { Effect, Entry, LogIndex, NodeId, RaftStatus } from '../raft/types.ts'
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
import { ClockWatch } from './time/clock-watch.ts'
import type { ClusterTime } from './time/cluster-time.ts'
import { CoreLoop } from './base/core-loop.ts'
import type { DiskWatch } from './disk/disk-watch.ts'
import { type DiskWatches, watchDisks } from './disk/disk-watches.ts'
import type { NodeLimits } from './base/limits.ts'
import type { ProposalSessionId } from './base/log-entry.ts'
import { LevelRaise, reportedLevels } from './lifecycle/level-raise.ts'
import { LocalState } from './state/local-state.ts'
import { StateWatch } from './state/state-watch.ts'
import { LogReadBack } from './log/log-read-back.ts'
import { LogSource } from './log/log-source.ts'
import { ConfigurationChanges } from './configuration-changes.ts'
import { electionTicksOf, IDLE_HEARTBEAT_TICKS, type NodeOptions, type NodeParts } from './base/options.ts'
import { fatalOf, PeerDoubts } from './peers/peer-doubts.ts'
import type { PeerGate } from './peers/peer-gate.ts'
import { ProposalPath } from './proposals/proposal-path.ts'
import { PROPOSE_METHOD } from './proposals/propose-call.ts'
import { proposeHandler } from './proposals/propose-handler.ts'
import { ReadBarriers } from './reads/read-barriers.ts'
import type { Recovered } from './log/log-recovery.ts'
import type { RoomWatch } from './base/room-watch.ts'
import type { LeaderView } from './base/leader-view.ts'
import { Ticker } from './ticker.ts'

export interface DriverParts extends NodeParts {
  readonly limits: NodeLimits
  readonly recovered: Recovered
  readonly gate: PeerGate
  readonly time: ClusterTime
  /** The node cannot continue. The driver is mute already. */
  readonly onFatal: (error: Error) => void
}

export class Driver {
  readonly #options: NodeOptions
  readonly #parts: DriverParts
  readonly #loop: CoreLoop
  readonly #ticker: Ticker
  readonly state: LocalState
  readonly proposals: ProposalPath
  readonly reads: ReadBarriers
  readonly gate: PeerGate
  readonly disk: DiskWatch
  readonly readBack: LogReadBack
  readonly room: RoomWatch
  readonly membership: ConfigurationChanges
  readonly levels: LevelRaise
  readonly clocks: ClockWatch
  readonly stateWatch: StateWatch
  readonly doubts: PeerDoubts
  readonly #handlers: ReadonlyMap<string, CallHandler>
  /** Wakes callers that wait for another leader. Bounded: `stop` waits, and operators who requested a transfer. */
  readonly #leaderViewWaiters = new Set<() => void>()
  #leaderView: LeaderView
  #leaderChanges = 0
  constructor(options: NodeOptions, parts: DriverParts) {
    this.#options = options
    this.#parts = parts
    this.gate = parts.gate
    this.doubts = new PeerDoubts(parts.logger)
    const { heartbeatMs, electionTimeoutMs } = options
    const { restored } = parts.recovered
    this.#leaderView = { term: restored.hardState.currentTerm, leaderId: null, isLeader: false }
    this.#loop = this.#makeLoop()
    const onTick = (kind: 'tick' | 'tickGap'): void => this.#onTick(kind)
    this.#ticker = new Ticker({ ...parts, heartbeatMs, gapMs: electionTimeoutMs, onTick })
    const { disk, room } = this.#makeDisks()
    this.disk = disk
    this.room = room
    this.clocks = this.#makeClocks()
    this.readBack = new LogReadBack(parts.wal, this.#submit)
    this.state = this.#makeState()
    this.stateWatch = this.#makeStateWatch()
    this.proposals = this.#makeProposals()
    this.reads = new ReadBarriers({
      ...parts,
      submit: this.#submit,
      appliedIndex: () => this.applier.appliedIndex,
      hasLeader: () => this.#leaderView.leaderId !== null,
      unreadable: () => this.gate.removalNotice ?? this.state.rebuild.reason,
      hasLeft: () => this.gate.removalNotice !== null,
    })
    this.membership = new ConfigurationChanges({
      ...parts,
      submit: this.#submit,
      leaderId: () => this.#leaderView.leaderId,
    })
    this.levels = new LevelRaise({
      ...parts,
      known: parts.limits.featureLevelMax,
      present: () => this.applier.featureLevel,
      leaderView: () => this.#leaderView,
      others: () => reportedLevels(this.#peers(), this.gate, this.applier),
      size: () => this.#peers().length + 1,
      raise: (level, settle) => this.proposals.raise(level, settle),
    })
    this.#handlers = this.#makeHandlers()
  }

  #makeLoop(): CoreLoop {
    const { nodeId, random } = this.#options
    const { limits, recovered } = this.#parts
    const electionTicks = electionTicksOf(this.#options)
    const raft = new Raft(
      { nodeId, electionTicks, idleHeartbeatTicks: IDLE_HEARTBEAT_TICKS, random, limits: limits.raft },
      recovered.restored,
    )
    return new CoreLoop(raft, { begin: (effect) => this.#begin(effect), onBug: this.#onFatal })
  }

  #makeClocks(): ClockWatch {
    return new ClockWatch({
      ...this.#parts,
      status: () => this.#loop.status(),
      isLeader: () => this.#leaderView.isLeader,
      level: () => this.applier.featureLevel,
      logTime: () => this.applier.time.time,
      transfer: (target) => this.#loop.submit({ type: 'transferLeadership', target }),
      stampTime: () => this.proposals.stampTime(),
    })
  }

  #makeDisks(): DiskWatches {
    return watchDisks(this.#options, this.#parts, {
      isLeader: () => this.#leaderView.isLeader,
      offerLead: (target) => this.#offerLead(target),
      voters: () => this.#loop.configuration.voters,
      onDead: this.#onFatal,
    })
  }

  #makeState(): LocalState {
    return new LocalState({
      ...this.#parts,
      options: this.#options,
      session: this.#session,
      submit: this.#submit,
      leaderView: () => this.#leaderView,
      peers: () => this.#peers(),
      handOver: () => this.#offerLead(),
      onApplied: (completions) => this.#onApplied(completions),
      onInstalled: () => this.#onInstalled(),
      onFatal: this.#onFatal,
    })
  }

  #makeStateWatch(): StateWatch {
    const self = this.#options.nodeId
    const [loop, silentTicksMax] = [this.#loop, electionTicksOf(this.#options)]
    const isHeard = (nodeId: NodeId): boolean => (loop.silentTicksOf(nodeId) ?? Infinity) <= silentTicksMax
    return new StateWatch({
      ...this.#parts,
      electionTimeoutMs: this.#options.electionTimeoutMs,
      isLeader: () => this.#leaderView.isLeader,
      appliedIndex: () => this.applier.appliedIndex,
      commitIndex: () => loop.commitIndex,
      others: () =>
        loop.configuration.voters
          .filter((nodeId) => nodeId !== self && isHeard(nodeId))
          .map((nodeId) => ({ nodeId, applied: this.gate.appliedOf(nodeId) })),
      offerLead: (target) => this.#offerLead(target),
    })
  }

  #makeProposals(): ProposalPath {
    const { applier, clocks, room } = this
    const { rebuild } = this.state
    const [session, leaderView, loop] = [this.#session, this.#leaderView, this.#loop]
    const silentTicksMax = electionTicksOf(this.#options)
    const flow = new ApplyFlow({ ...this.#parts, self: this.#options.nodeId, loop, applier, silentTicksMax })
    const { atTurnEnd } = this.#parts.transport
    const parts = { ...this.#parts, session, leaderView, loop, atTurnEnd }
    return new ProposalPath({ ...parts, clocks, room, flow, rebuild })
  }

  #makeHandlers(): ReadonlyMap<string, CallHandler> {
    return new Map([
      [PROPOSE_METHOD, proposeHandler(this.proposals, this.#parts.limits, this.#loop)],
      ...new LogSource({
        loop: this.#loop,
        wal: this.#parts.wal,
        proposals: this.proposals,
        logger: this.#parts.logger,
      }).handlers,
      ...this.state.handlers,
    ])
  }

  get leaderView(): LeaderView {
    return this.#leaderView
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

  /** Answers a call of a peer to a node that takes part. `method`: one of DRIVER_METHODS. */
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

  /** The log of this node counts like that of any other node from here on. */
  diskProved(): void {
    this.#loop.submit({ type: 'diskProved' })
  }

  onDurable(sequence: number): void {
    this.disk.onDurable(sequence)
    this.proposals.onDurable(sequence)
    this.#loop.submit({ type: 'walDone', sequence })
    this.proposals.seal()
  }

  /** Resolves when this node does not lead any more. */
  async handOver(target: NodeId | null = null): Promise<void> {
    if (!this.#leaderView.isLeader || this.#loop.configuration.voters.length === 1) return
    const gone = new Promise<void>((resolve) => this.#leaderViewWaiters.add(resolve))
    this.#loop.submit({ type: 'transferLeadership', target })
    await gone
  }

  /** Nothing is started, sent or promised after it returns; callers that wait get `why`. */
  mute(why: Condition): void {
    this.#ticker.stop()
    this.#loop.mute()
    this.#leaderView = { term: this.#leaderView.term, leaderId: null, isLeader: false }
    this.proposals.close(why)
    this.reads.close(why)
    this.membership.close(why)
    this.levels.close()
    this.state.mute()
  }

  #peers(): readonly NodeId[] {
    return membersOf(this.#loop.configuration).filter((peer) => peer !== this.#options.nodeId)
  }

  #offerLead(target: NodeId | null = null): void {
    if (this.#leaderView.isLeader) this.#loop.submit({ type: 'transferLeadership', target })
  }

  get #session(): ProposalSessionId {
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
        this.proposals.onAppend(effect.sequence, effect.entries)
        this.disk.onAppend(effect.sequence, effect.entries.at(-1)?.index ?? null)
        return this.#parts.wal.append(effect)
      case 'readLog':
        return void this.readBack.begin(effect)
      case 'send':
        // Every node would refuse it; silence keeps the logs of the others short.
        return this.gate.expelled === null ? this.#parts.transport.send(effect.message) : undefined
      case 'apply':
        return this.#onCommitted(effect.entries)
      case 'proposalAccepted':
        if (this.membership.isMine(effect.proposalId))
          return this.membership.onAccepted(effect.proposalId, effect.index)
        return this.proposals.onAccepted(effect.proposalId, effect.term, effect.index)
      case 'proposalRefused':
        if (this.membership.isMine(effect.proposalId))
          return this.membership.onRefused(effect.proposalId, effect.reason)
        return this.proposals.onRefused(effect.proposalId, effect.reason)
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
    // At once: the commit index and the next entry then share one message to each peer.
    if (last !== undefined) this.proposals.onCommitted(last.index)
  }

  #onRoleChanged({ role, term, leaderId }: Extract<Effect, { type: 'roleChanged' }>): void {
    const isLeader = role === 'leader'
    if (leaderId !== null && leaderId !== this.#leaderView.leaderId) this.#leaderChanges += 1
    this.#leaderView = { term, leaderId, isLeader }
    this.#parts.logger.info({ term, leader: leaderId, isLeader, role }, 'leadership seen')
    this.reads.onLeaderView()
    this.proposals.onLeaderView(this.#leaderView)
    if (isLeader) return this.gate.resetPeerLevels()
    for (const wake of this.#leaderViewWaiters) wake()
    this.#leaderViewWaiters.clear()
  }

  #onTick(kind: 'tick' | 'tickGap'): void {
    if (kind === 'tickGap') this.disk.onGap()
    this.#loop.submit({ type: kind })
    this.room.onTick()
    this.disk.onTick()
    this.stateWatch.onTick(kind)
    this.proposals.onTick()
    this.reads.onTick()
    this.membership.onTick()
    this.levels.onTick()
    this.clocks.onTick()
  }

  #onApplied(completions: readonly Completion[]): void {
    if (this.#loop.isMute) return
    this.#loop.submit({ type: 'applied', index: this.applier.appliedIndex })
    this.proposals.onApplied(completions)
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
    if (index !== null) void this.#trim(index)
  }

  /** The log is what a power cut leaves of entries that the state does not hold durably. */
  async #trim(index: LogIndex): Promise<void> {
    if (!(await this.state.checkpoint()) || this.#loop.isMute) return
    this.#loop.submit({ type: 'compact', index })
    const { base } = this.#loop.status()
    if (base.index === index) this.#parts.wal.compact(base)
  }
}
