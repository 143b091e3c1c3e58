/**
 * Turns each effect of the Raft core into disk writes, sends, applies and replies, and their outcomes into inputs.
 *
 * Owns: the running parts of one node and who hears of what. Knows nothing of: elections and quorums, start and stop.
 * Rule: it begins effects in the order in which the core gave them and never waits in between; what promises something is held back
 * by the core itself until the log says that it is durable.
 */
import { Raft } from '../raft/raft.ts'
import type { Effect, Entry, NodeId, RaftStatus, Term } from '../raft/types.ts'
import { Condition } from '../types.ts'
import { PeerRefusedError, type TransportEvents } from '../transport/transport.ts'
import { Applier, type Completion } from './applier.ts'
import { Batcher, type ProposalOutcome } from './batcher.ts'
import { CoreLoop } from './core-loop.ts'
import type { NodeLimits } from './limits.ts'
import type { Proposal, SessionId } from './log-entry.ts'
import { LogKeeper } from './log-keeper.ts'
import type { MachineRecord } from './machine-record.ts'
import type { NodeOptions, NodeParts } from './options.ts'
import { callPropose, PROPOSE_METHOD, proposeHandler } from './propose-call.ts'
import { Proposals } from './proposals.ts'
import { ReadBarriers } from './read-barriers.ts'
import type { Recovered } from './recovery.ts'
import type { Route } from './route.ts'
import { SNAPSHOT_METHOD, type SnapshotCounts, snapshotHandler } from './snapshot-call.ts'
import { SnapshotPuller } from './snapshot-puller.ts'
import { Ticker } from './ticker.ts'

export interface DriverParts extends NodeParts {
  readonly limits: NodeLimits
  readonly recovered: Recovered
  /** The node cannot go on. The driver is mute already. */
  readonly onFatal: (error: Error) => void
}

export class Driver {
  readonly #options: NodeOptions
  readonly #parts: DriverParts
  readonly #loop: CoreLoop
  readonly #ticker: Ticker
  readonly #puller: SnapshotPuller
  readonly #keeper: LogKeeper
  readonly #batcher: Batcher
  readonly applier: Applier
  readonly proposals: Proposals
  readonly reads: ReadBarriers
  readonly snapshots: SnapshotCounts = { served: 0, installed: 0, failed: 0 }
  /** Wakes who waits for another leader. Bounded: only `stop` waits. */
  readonly #routeWaiters = new Set<() => void>()
  #route: Route
  #leaderChanges = 0
  #isTombstoned = false
  #appendedSequence = 0
  #durableSequence = 0

  constructor(options: NodeOptions, parts: DriverParts) {
    this.#options = options
    this.#parts = parts
    const { nodeId, heartbeatMs, electionTimeoutMs, logKeepEntries, logKeepBytes } = options
    const { restored, record } = parts.recovered
    const shared = { ...parts, session: this.#session, counts: this.snapshots, submit: this.#submit }
    const electionTicks = Math.max(10, Math.ceil(electionTimeoutMs / heartbeatMs))
    const raft = new Raft(
      { nodeId, electionTicks, random: options.random, limits: parts.limits.raft },
      restored,
    )
    this.#route = { term: restored.hardState.currentTerm, leaderId: null, isLeader: false }
    this.#loop = new CoreLoop(raft, { begin: (effect) => this.#begin(effect), onBug: this.#onFatal })
    this.#ticker = new Ticker({
      clock: parts.clock,
      heartbeatMs,
      gapMs: electionTimeoutMs,
      onTick: (kind) => this.#onTick(kind),
    })
    this.#keeper = new LogKeeper({ keepEntries: logKeepEntries, keepBytes: logKeepBytes }, restored.base)
    this.#keeper.onApplied(restored.entries.filter(({ index }) => index <= restored.appliedIndex))
    this.applier = new Applier({
      ...shared,
      record,
      onApplied: (entries, completions) => this.#onApplied(entries, completions),
      onFatal: this.#onFatal,
    })
    this.#batcher = new Batcher({
      ...shared,
      isLogBusy: () => this.#durableSequence < this.#appendedSequence,
    })
    this.proposals = new Proposals({
      ...shared,
      route: () => this.#route,
      offer: (proposal, settle) => this.#batcher.add(proposal, settle),
      forward: (leader, proposals, signal) => this.#forward(leader, proposals, signal),
    })
    this.reads = new ReadBarriers({
      ...shared,
      appliedIndex: () => this.applier.appliedIndex,
      hasLeader: () => this.#route.leaderId !== null,
    })
    this.#puller = new SnapshotPuller({
      ...shared,
      applier: this.applier,
      onInstalled: (installed) => this.#onInstalled(installed),
    })
  }

  get route(): Route {
    return this.#route
  }

  get leaderChanges(): number {
    return this.#leaderChanges
  }

  /** The leader will not hear of this data directory: another one is, or was, known under its name. */
  get isTombstoned(): boolean {
    return this.#isTombstoned
  }

  get isInstalling(): boolean {
    return this.#puller.isPulling
  }

  status(): RaftStatus {
    return this.#loop.status()
  }

  /** What peers may ask of this node. Set before the transport starts. */
  serve(): void {
    const { transport, stateMachine, limits } = this.#parts
    const isOpen = (): boolean => !this.#loop.isMute
    transport.handle(PROPOSE_METHOD, proposeHandler(this.#batcher, limits, isOpen))
    transport.handle(SNAPSHOT_METHOD, snapshotHandler(stateMachine, limits, this.snapshots, isOpen))
  }

  readonly transportEvents: TransportEvents = {
    onMessages: (messages) => {
      for (const message of messages) this.#loop.submit({ type: 'message', message })
    },
    onUnreachable: (peer) => this.#loop.submit({ type: 'peerUnreachable', peer }),
  }

  start(): void {
    this.#ticker.start()
  }

  onDurable(sequence: number): void {
    this.#durableSequence = sequence
    this.#loop.submit({ type: 'walDone', sequence })
    this.#batcher.flush()
  }

  /** Resolves when this node does not lead any more. */
  async handOver(): Promise<void> {
    if (!this.#route.isLeader || this.#loop.status().configuration.voters.length === 1) return
    const gone = new Promise<void>((resolve) => this.#routeWaiters.add(resolve))
    this.#loop.submit({ type: 'transferLeadership', target: null })
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
    this.#batcher.close()
  }

  closeSnapshots(): Promise<void> {
    return this.#puller.close()
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
      const outcomes = await callPropose(transport, leader, proposals, {
        signal,
        timeoutMs: limits.forwardTimeoutMs,
      })
      this.#isTombstoned = false
      return outcomes
    } catch (error) {
      this.#parts.logger.debug({ peer: leader, count: proposals.length, err: error }, 'proposals not taken')
      if (error instanceof PeerRefusedError) this.#isTombstoned = error.code === 'member_tombstoned'
      throw error
    }
  }

  #begin(effect: Effect): void {
    switch (effect.type) {
      case 'appendWal':
        this.#appendedSequence = effect.sequence
        return this.#parts.wal.append(effect)
      case 'send':
        return this.#parts.transport.send(effect.message)
      case 'apply':
        return this.#onCommitted(effect.entries)
      case 'proposalAccepted':
        return this.#batcher.onAccepted(effect.proposalId, effect.term, effect.index)
      case 'proposalRefused':
        return this.#batcher.onRefused(effect.proposalId, effect.reason)
      case 'readReady':
        return this.reads.onReady(effect.readId, effect.index)
      case 'readRefused':
        return this.reads.onRefused(effect.readId)
      case 'fetchSnapshot':
        return this.#puller.fetch(effect.from, effect.atLeast)
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
    if (isLeader) return
    this.#batcher.onLeadershipLost()
    for (const wake of this.#routeWaiters) wake()
    this.#routeWaiters.clear()
  }

  #onTick(kind: 'tick' | 'tickGap'): void {
    this.#loop.submit({ type: kind })
    this.proposals.onTick()
    this.reads.onTick()
  }

  #onApplied(entries: readonly Entry[], completions: readonly Completion[]): void {
    if (this.#loop.isMute) return
    this.#keeper.onApplied(entries)
    this.#loop.submit({ type: 'applied', index: this.applier.appliedIndex })
    for (const { sequence, reply } of completions) this.proposals.onApplied(sequence, reply)
    this.reads.onApplied()
    this.#compact()
  }

  #onInstalled({ appliedIndex, appliedTerm }: MachineRecord): void {
    this.#keeper.onBase({ index: appliedIndex, term: appliedTerm })
    this.proposals.onInstalled((sequence) => this.applier.hasTakenEffect(sequence))
    this.reads.onApplied()
  }

  #compact(): void {
    const index = this.#keeper.takeDue()
    if (index === null) return
    this.#loop.submit({ type: 'compact', index })
    const { base } = this.#loop.status()
    if (base.index === index) this.#parts.wal.compact(base)
  }
}
