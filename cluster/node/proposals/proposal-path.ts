/**
 * The path of proposals through this node: carries out what `Proposals` and `Batcher` want done.
 *
 * Owns: their turns. What one turn of the event loop proposes is dispatched at its end, and what a dispatch adds to the batcher is sealed after that, before
 * what the turn says to peers leaves; without an end of turns both are microtasks. Knows nothing of: sequences, retries, which proposals share an entry.
 * Rule: intents are carried out at once and in order. The next entry is sealed only after the one before it was handed to the core,
 * whose answer decides whether another one is due.
 */
import type { Condition, ProposeOptions, RoomNeed } from '../../base/types.ts'
import type { Entry, LogIndex, Term } from '../../raft/types.ts'
import type { Clock } from '../../base/clock.ts'
import { LatencyHistogram } from '../../base/latency-histogram.ts'
import type { ClockWatch } from '../time/clock-watch.ts'
import type { CoreLoop } from '../base/core-loop.ts'
import type { NodeLimits } from '../base/limits.ts'
import type { ProposalSessionId } from '../base/log-entry.ts'
import type { NodeView } from '../base/node-view.ts'
import { type AtTurnEnd, OncePerTurn } from '../base/once-per-turn.ts'
import type { PeerGate } from '../peers/peer-gate.ts'
import type { RoomWatch } from '../base/room-watch.ts'
import type { EntryTimes } from '../base/entry-times.ts'
import type { LeaderView } from '../base/leader-view.ts'
import type { ApplyFlow } from './apply-flow.ts'
import { Batcher, type EntryTerms } from './batcher.ts'
import { CommitTimes } from './commit-times.ts'
import type {
  BatcherIntent,
  ForwardIntent,
  NeedyProposal,
  ProposalOutcome,
  ProposalRefusal,
  ProposalsIntent,
  Requester,
} from './intents.ts'
import { type ForwardParts, forwardProposals } from './propose-call.ts'
import { Proposals } from './proposals.ts'

export interface ProposalPathParts extends Omit<ForwardParts, 'signal'> {
  readonly clock: Clock
  readonly limits: NodeLimits
  readonly session: ProposalSessionId
  readonly leaderView: LeaderView
  readonly loop: Pick<CoreLoop, 'submit'>
  readonly gate: Pick<PeerGate, 'removalNotice' | 'onRefused'>
  readonly clocks: Pick<ClockWatch, 'stamp'>
  readonly room: Pick<RoomWatch, 'refusal'>
  readonly flow: Pick<ApplyFlow, 'objection'>
  /** `reason`: why there is no usable state here; null when there is. */
  readonly rebuild: { readonly reason: string | null }
  /** Absent or null: single entries are not measured. */
  readonly entryTimes?: EntryTimes | null
  /** Before what the turn says to peers leaves. Absent: the transport has no turns. */
  readonly atTurnEnd?: AtTurnEnd | undefined
}

/** A proposal of this process that has taken effect here. */
interface AppliedProposal {
  readonly sequence: number
  /** Of its entry; null: of none that was applied now. */
  readonly index: LogIndex | null
  readonly reply: Uint8Array
}

export class ProposalPath {
  readonly #parts: ProposalPathParts
  /** The proposals of this process, as far as nothing follows that has to be carried out. */
  readonly own: Pick<Proposals, 'counts' | 'pendingCount' | 'refuse' | 'idle' | 'onApplied'>
  readonly #own: Proposals
  readonly commitTimes: CommitTimes
  /** Of the proposals of this process, from the call until their reply. */
  readonly replyTimes = new LatencyHistogram()
  readonly #batcher: Batcher
  readonly #dispatching: OncePerTurn
  readonly #sealing: OncePerTurn
  #leaderView: LeaderView

  constructor(parts: ProposalPathParts) {
    this.#parts = parts
    this.#own = new Proposals(parts.limits, parts.session)
    this.own = this.#own
    this.#batcher = new Batcher(parts.limits)
    const { atTurnEnd } = parts
    this.#dispatching = new OncePerTurn(() => this.#carryOut(this.#own.dispatch(this.#view())), atTurnEnd)
    this.#sealing = new OncePerTurn(() => this.#endTurn(), atTurnEnd)
    this.commitTimes = new CommitTimes(parts.clock)
    this.#leaderView = parts.leaderView
  }

  /** Resolves with the reply once the command is applied here. Throws Condition. */
  async propose(command: Uint8Array, how: ProposeOptions = {}): Promise<Uint8Array> {
    const spaceRefusal = this.#parts.room.refusal(how.need ?? 'growth')
    const { clock } = this.#parts
    const start = clock.now()
    const replied = this.#own.propose({ ...how, command, spaceRefusal }, start)
    this.#dispatchSoon()
    const reply = await replied
    this.replyTimes.observe((clock.now() - start) / 1000)
    return reply
  }

  /** A proposal of a peer, at its leader. Resolves when it is in the log, or is not going to be. */
  offer(proposal: NeedyProposal): Promise<ProposalOutcome> {
    return new Promise((settle) => this.#add(proposal, { kind: 'other', settle }))
  }

  /** An entry that raises the feature level of the state. */
  raise(level: number, settle: (outcome: ProposalOutcome) => void): void {
    this.#carryOut(this.#batcher.raise(level, { kind: 'other', settle }, this.#terms()))
  }

  stampTime(): void {
    this.#carryOut(this.#batcher.stampTime(this.#terms()))
  }

  /** Hands every entry that is due to the core: with what this turn still brings, where turns have an end. */
  seal(): void {
    if (this.#parts.atTurnEnd === undefined) this.#sealAll()
    else if (this.#batcher.isDue) this.#sealing.schedule()
  }

  /** A commit may have asked for the next entry before the last proposal of the turn came. */
  #endTurn(): void {
    if (this.#parts.atTurnEnd !== undefined) this.#dispatching.now()
    this.#sealAll()
  }

  #sealAll(): void {
    while (this.#batcher.isDue) this.#carryOut(this.#batcher.seal(this.#parts.clocks.stamp()))
  }

  onTick(): void {
    this.#own.onTick(this.#view())
    this.#dispatchSoon()
  }

  onLeaderView(leaderView: LeaderView): void {
    this.#leaderView = leaderView
    this.#own.onLeaderView(leaderView)
    this.#dispatchSoon()
    if (leaderView.isLeader) return
    this.commitTimes.onLeadershipLost()
    this.#batcher.onLeadershipLost()
    this.seal()
  }

  onAppend(sequence: number, entries: readonly Entry[] = []): void {
    this.#parts.entryTimes?.onAppend(sequence, entries, this.#leaderView.isLeader)
    this.#batcher.onAppend(sequence)
  }

  /** Before the core learns of it; call `seal` after. */
  onDurable(sequence: number): void {
    this.#parts.entryTimes?.onDurable(sequence)
    this.#batcher.onDurable(sequence)
  }

  onAccepted(id: number, term: Term, index: LogIndex): void {
    this.commitTimes.onAccepted(index)
    this.#carryOut(this.#batcher.onAccepted(id, term, index))
  }

  onRefused(id: number, reason: ProposalRefusal): void {
    this.#carryOut(this.#batcher.onRefused(id, reason))
  }

  onCommitted(index: LogIndex): void {
    this.commitTimes.onCommitted(index)
    this.#parts.entryTimes?.onCommitted(index)
    this.#batcher.onCommitted(index)
    this.seal()
  }

  /** Own proposals have their replies. Their callers may ask at once for what was measured of their entries. */
  onApplied(completions: readonly AppliedProposal[]): void {
    const { entryTimes = null } = this.#parts
    for (const { sequence, index, reply } of completions) {
      const trace = entryTimes === null || index === null ? null : this.#own.traceOf(sequence)
      if (trace !== null && index !== null) entryTimes?.onProposed(trace, index)
      this.#own.onApplied(sequence, reply)
    }
  }

  onInstalled(hasTakenEffect: (sequence: number) => boolean): void {
    this.#own.onInstalled(hasTakenEffect)
    this.#dispatchSoon()
  }

  /** The own proposals first: they must not take the batcher's last outcome for a refusal that proves nothing was logged. */
  close(why: Condition): void {
    this.#own.close(why)
    this.#carryOut(this.#batcher.close())
  }

  #carryOut(intents: readonly (ProposalsIntent | BatcherIntent)[]): void {
    for (const intent of intents) {
      switch (intent.type) {
        case 'offer':
          for (const proposal of intent.proposals)
            this.#add(proposal, { kind: 'own', sequence: proposal.sequence })
          break
        case 'forward':
          void this.#forward(intent)
          break
        case 'append':
          this.#parts.loop.submit({ type: 'propose', proposalId: intent.id, data: intent.data })
          break
        case 'settle':
          this.#settle(intent.requesters, intent.outcome)
          break
        case 'sealSoon':
          this.#sealing.schedule()
          break
      }
    }
  }

  #add(proposal: NeedyProposal, requester: Requester): void {
    this.#carryOut(this.#batcher.add(proposal, requester, this.#objection(proposal.need)))
  }

  async #forward({ id, leader, proposals, signal }: ForwardIntent): Promise<void> {
    const answer = await forwardProposals({ ...this.#parts, signal }, leader, proposals)
    this.#own.onForwarded(id, answer, this.#view())
    this.#dispatchSoon()
  }

  #settle(requesters: readonly Requester[], outcome: ProposalOutcome): void {
    const view = this.#view()
    for (const requester of requesters) {
      if (requester.kind === 'own') this.#own.onOutcome(requester.sequence, outcome, view)
      else requester.settle(outcome)
    }
  }

  #dispatchSoon(): void {
    if (this.#own.pendingCount > 0) this.#dispatching.schedule()
  }

  #view(): NodeView {
    const { clock, gate, rebuild } = this.#parts
    const { removalNotice } = gate
    const unreadable = removalNotice ?? rebuild.reason
    return { now: clock.now(), leaderView: this.#leaderView, unreadable, hasLeft: removalNotice !== null }
  }

  #terms(): EntryTerms {
    return { objection: this.#objection('upkeep'), stamp: this.#parts.clocks.stamp() }
  }

  /** Why a leader takes nothing with this need now; null when it does. */
  #objection(need: RoomNeed): ProposalRefusal | null {
    const { room, flow } = this.#parts
    return room.refusal(need) === null ? flow.objection : 'diskFull'
  }
}
