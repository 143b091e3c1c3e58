/**
 * Turns each effect of the Raft core into disk writes, sends, applies and replies, and their outcomes into inputs.
 *
 * Owns: the running parts of one node and who hears of what. Knows nothing of: elections and quorums, start and stop.
 * Rule: it begins effects in the order in which the core gave them and never waits in between; what promises something is held back
 * by the core itself until the log says that it is durable.
 */
import { Raft } from '../raft/raft.ts'
import { membersOf } from '../raft/configuration.ts'
import type { Effect, Entry, NodeId, RaftStatus, Term } from '../raft/types.ts'
import { Condition } from '../types.ts'
import {
  type CallHandler,
  type IncomingCall,
  type OutgoingAnswer,
  PeerRefusedError,
  type TransportEvents,
} from '../transport/transport.ts'
import { assert } from './assert.ts'
import type { Applier, Completion } from './applier.ts'
import { Batcher, type ProposalOutcome, type ProposalRefusal } from './batcher.ts'
import { CoreLoop } from './core-loop.ts'
import { DiskWatch } from './disk-watch.ts'
import type { NodeLimits } from './limits.ts'
import type { Proposal, SessionId } from './log-entry.ts'
import { LevelRaise } from './level-raise.ts'
import { LOG_ENTRIES_METHOD } from './log-entries-call.ts'
import { LocalState } from './local-state.ts'
import { LogSource } from './log-source.ts'
import { MembershipChanges } from './membership-changes.ts'
import type { NodeOptions, NodeParts } from './options.ts'
import type { PeerGate } from './peer-gate.ts'
import { callPropose, PROPOSE_METHOD, proposeHandler } from './propose-call.ts'
import { Proposals } from './proposals.ts'
import { ReadBarriers } from './read-barriers.ts'
import type { Recovered } from './recovery.ts'
import type { Route } from './route.ts'
import { SNAPSHOT_METHODS } from './snapshot-calls.ts'
import { CHECKSUMS_METHOD } from './state-guard.ts'
import { Ticker } from './ticker.ts'

/** What peers may ask of a node that takes part. */
export const DRIVER_METHODS: readonly string[] = [
  PROPOSE_METHOD,
  LOG_ENTRIES_METHOD,
  CHECKSUMS_METHOD,
  ...Object.values(SNAPSHOT_METHODS),
]

export interface DriverParts extends NodeParts {
  readonly limits: NodeLimits
  readonly recovered: Recovered
  readonly gate: PeerGate
  /** The node cannot go on. The driver is mute already. */
  readonly onFatal: (error: Error) => void
}

export class Driver {
  readonly #options: NodeOptions
  readonly #parts: DriverParts
  readonly #loop: CoreLoop
  readonly #ticker: Ticker
  readonly #batcher: Batcher
  readonly state: LocalState
  readonly proposals: Proposals
  readonly reads: ReadBarriers
  readonly gate: PeerGate
  readonly disk: DiskWatch
  readonly membership: MembershipChanges
  readonly levels: LevelRaise
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
    const { heartbeatMs, electionTimeoutMs } = options
    const { restored } = parts.recovered
    this.#route = { term: restored.hardState.currentTerm, leaderId: null, isLeader: false }
    this.#loop = this.#makeLoop()
    this.#ticker = new Ticker({
      clock: parts.clock,
      heartbeatMs,
      gapMs: electionTimeoutMs,
      onTick: (kind) => this.#onTick(kind),
    })
    this.disk = new DiskWatch({
      ...parts,
      electionTimeoutMs,
      handOver: () => this.#offerLead(),
      onDead: this.#onFatal,
    })
    this.#batcher = new Batcher({
      ...parts,
      submit: this.#submit,
      isLogBusy: () => this.#durableSequence < this.#appendedSequence,
      objection: () => this.#objection(),
    })
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
      others: () => this.#levelsOfPeers(),
      size: () => this.#peers().length + 1,
      raise: (level, settle) => this.#batcher.raise(level, settle),
    })
    this.#handlers = this.#makeHandlers()
  }

  #makeLoop(): CoreLoop {
    const { nodeId, heartbeatMs, electionTimeoutMs, random } = this.#options
    const { limits, recovered } = this.#parts
    const electionTicks = Math.max(10, Math.ceil(electionTimeoutMs / heartbeatMs))
    const raft = new Raft({ nodeId, electionTicks, random, limits: limits.raft }, recovered.restored)
    return new CoreLoop(raft, { begin: (effect) => this.#begin(effect), onBug: this.#onFatal })
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
      isDiskFull: () => this.disk.isFull,
      unreadable: () => this.gate.farewell ?? this.state.rebuild.reason,
      hasLeft: () => this.gate.farewell !== null,
      offer: (proposal, settle) => this.#batcher.add(proposal, settle),
      forward: (leader, proposals, signal) => this.#forward(leader, proposals, signal),
    })
  }

  #makeHandlers(): ReadonlyMap<string, CallHandler> {
    const isOpen = (): boolean => !this.#loop.isMute
    return new Map([
      [PROPOSE_METHOD, proposeHandler(this.#batcher, this.#parts.limits, isOpen)],
      ...new LogSource({ loop: this.#loop, proposals: this.proposals, logger: this.#parts.logger }).handlers,
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
    },
    onUnreachable: (peer) => this.#loop.submit({ type: 'peerUnreachable', peer }),
  }

  start(): void {
    this.#ticker.start()
    this.state.guard.start()
  }

  onDiskFull(): void {
    this.disk.onFull()
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

  #levelsOfPeers(): readonly (number | null)[] {
    const { gate } = this.#parts
    const known = this.#peers().map((peer) => ({ peer, level: gate.featureLevelOf(peer) }))
    const here = known.filter(({ peer, level }) => level !== null || this.applier.registered(peer) !== null)
    return here.map(({ level }) => level)
  }

  #offerLead(): void {
    if (this.#route.isLeader) this.#loop.submit({ type: 'transferLeadership', target: null })
  }

  /** Why this node takes no proposal of anybody now. */
  #objection(): ProposalRefusal | null {
    if (this.disk.isFull) return 'diskFull'
    const { unappliedEntriesMax, unappliedBytesMax } = this.#parts.limits
    const { entries, bytes } = this.#loop.unapplied()
    return entries > unappliedEntriesMax || bytes > unappliedBytesMax ? 'backlogFull' : null
  }

  get #session(): SessionId {
    const { nodeId, incarnation, boot } = this.#options
    return { nodeId, incarnation, boot }
  }

  readonly #submit: CoreLoop['submit'] = (input) => this.#loop.submit(input)

  readonly #onFatal = (error: Error): void => {
    this.mute(new Condition('shutting_down', 'This node has failed and stops', { cause: error }))
    this.#parts.onFatal(error)
  }

  async #forward(
    leader: NodeId,
    proposals: readonly Proposal[],
    signal: AbortSignal,
  ): Promise<ReadonlyMap<number, ProposalOutcome>> {
    const { transport, limits } = this.#parts
    try {
      return await callPropose(transport, leader, proposals, { signal, timeoutMs: limits.forwardTimeoutMs })
    } catch (error) {
      this.#parts.logger.debug({ peer: leader, count: proposals.length, err: error }, 'proposals not taken')
      if (error instanceof PeerRefusedError) this.gate.onRefused(leader, error.code)
      throw error
    }
  }

  #begin(effect: Effect): void {
    switch (effect.type) {
      case 'appendWal':
        this.#appendedSequence = effect.sequence
        this.disk.onAppend(effect.sequence)
        return this.#parts.wal.append(effect)
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
      case 'roleChanged':
        return this.#onRoleChanged(effect.role === 'leader', effect.term, effect.leaderId)
    }
  }

  #onCommitted(entries: readonly Entry[]): void {
    this.applier.push(entries)
    const last = entries.at(-1)
    // At once: the news of the commit and the next entry then share one message to each peer.
    if (last !== undefined) this.#batcher.onCommitted(last.index)
  }

  #onRoleChanged(isLeader: boolean, term: Term, leaderId: NodeId | null): void {
    if (leaderId !== null && leaderId !== this.#route.leaderId) this.#leaderChanges += 1
    this.#route = { term, leaderId, isLeader }
    this.#parts.logger.info({ term, leader: leaderId, isLeader }, 'leadership seen')
    this.proposals.onRoute()
    this.reads.onRoute()
    if (isLeader) return this.gate.hearAnew()
    this.#batcher.onLeadershipLost()
    for (const wake of this.#routeWaiters) wake()
    this.#routeWaiters.clear()
  }

  #onTick(kind: 'tick' | 'tickGap'): void {
    if (kind === 'tickGap') this.disk.onGap()
    this.#loop.submit({ type: kind })
    this.disk.onTick()
    this.proposals.onTick()
    this.reads.onTick()
    this.membership.onTick()
    this.levels.onTick()
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
    const index = this.state.compactable()
    if (index === null) return
    this.#loop.submit({ type: 'compact', index })
    const { base } = this.#loop.status()
    if (base.index === index) this.#parts.wal.compact(base)
  }
}
