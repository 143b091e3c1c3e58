/**
 * The proposals of this process from the call of `propose` until their reply.
 *
 * Owns: sequences, retries, deadlines. Knows nothing of: how a leader batches, what a command means, when its turn comes; it reads no
 * clock and starts no call, but returns what it wants done. Rule: a retry keeps its sequence, and a proposal ends only by its apply on
 * this node or by its deadline. Once it may have reached a log its failure is `commit_unknown`, because it cannot be called back.
 */
import { Condition, type ProposeOptions, type RoomNeed, type TimeCorrection } from '../../base/types.ts'
import { assert } from '../../base/assert.ts'
import type { Traceparent } from '../../base/peer-traces.ts'
import { batchLength } from './batcher.ts'
import type { NodeId, Term } from '../../raft/types.ts'
import type {
  ForwardAnswer,
  ForwardIntent,
  NeedyProposal,
  ProposalOutcome,
  ProposalRefusal,
  ProposalsIntent,
} from './intents.ts'
import type { NodeLimits } from '../base/limits.ts'
import type { ProposalSessionId } from '../base/log-entry.ts'
import type { NodeView } from '../base/node-view.ts'
import type { LeaderView } from '../base/leader-view.ts'

/** A disk is not freed within a second. ms */
const DISK_FULL_RETRY_MS = 10_000

export interface ProposalRequest extends ProposeOptions {
  readonly command: Uint8Array
  /** Why no disk has space for it, as a sentence without its end; null when there is some. */
  readonly spaceRefusal: string | null
}

/** Of the promise of the caller. */
interface Ends {
  readonly resolve: (reply: Uint8Array) => void
  readonly reject: (error: Error) => void
}

interface Forward {
  readonly leader: NodeId
  readonly abort: AbortController
  readonly sequences: readonly number[]
}

interface Pending extends Ends {
  readonly sequence: number
  readonly command: Uint8Array
  readonly correction: TimeCorrection | undefined
  readonly need: RoomNeed
  readonly cost: number | undefined
  readonly trace: Traceparent | null
  readonly deadline: number
  state: 'queued' | 'travelling' | 'accepted'
  /** Attempts without an answer yet. */
  inFlight: number
  /** An attempt was accepted, or its outcome will never be known. */
  mayBeLogged: boolean
  /** In `accepted`: a leader of a later term may not have it. */
  acceptedTerm: Term
  lastRefusal: ProposalRefusal | null
  attempts: number
  notBefore: number
}

export class Proposals {
  readonly #limits: NodeLimits
  readonly #session: ProposalSessionId
  /** In the order of the sequences: the first is the oldest. */
  readonly #pending = new Map<number, Pending>()
  #nextSequence = 1
  /** Calls to a leader that are under way, by their id. */
  readonly #forwards = new Map<number, Forward>()
  #lastForward = 0
  #closed: Condition | null = null
  #onIdle: (() => void) | null = null
  readonly counts = { proposed: 0, failed: 0 }

  constructor(limits: NodeLimits, session: ProposalSessionId) {
    this.#limits = limits
    this.#session = session
  }

  get pendingCount(): number {
    return this.#pending.size
  }

  /** Resolves with the reply. Throws Condition where the proposal is refused at once; rejects with one when it fails later. */
  propose(request: ProposalRequest, now: number): Promise<Uint8Array> {
    const { commandBytesMax, proposalsPendingMax, sequenceWindowMax } = this.#limits
    assert(request.command.length <= commandBytesMax, `a command has at most ${commandBytesMax} bytes`)
    if (this.#closed) throw this.#closed
    if (request.spaceRefusal !== null) throw diskFull(request.spaceRefusal)
    if (
      this.#pending.size >= proposalsPendingMax ||
      this.#nextSequence - this.#oldest() >= sequenceWindowMax
    ) {
      throw new Condition(
        'slow_down',
        `Cannot propose: ${this.#pending.size} proposals of this node are unfinished`,
      )
    }
    this.counts.proposed += 1
    return new Promise((resolve, reject) => this.#admit(request, now, { resolve, reject }))
  }

  /** What is due now: everything to this node's batcher, or as many calls to the leader as may be under way. */
  dispatch({ leaderView, unreadable, now }: NodeView): readonly ProposalsIntent[] {
    const { leaderId, isLeader } = leaderView
    // A proposal without a state here would end as unknown, within the next state; one that is not made is refused for certain.
    if (leaderId === null || unreadable !== null) return []
    let due = [...this.#pending.values()].filter((p) => p.state === 'queued' && p.notBefore <= now)
    if (isLeader) return due.length > 0 ? [{ type: 'offer', proposals: this.#depart(due) }] : []
    const intents: ForwardIntent[] = []
    while (due.length > 0 && this.#mayForward(due)) {
      const count = batchLength(due, this.#limits)
      intents.push(this.#forward(leaderId, due.slice(0, count)))
      due = due.slice(count)
    }
    return intents
  }

  /** A leader became known or was lost. What an older leader accepted may be gone with it: ask the new one as well. */
  onLeaderView({ leaderId, term }: LeaderView): void {
    if (leaderId === null) return
    for (const { leader, abort } of this.#forwards.values()) if (leader !== leaderId) abort.abort()
    for (const pending of this.#pending.values()) {
      if (pending.state === 'accepted' && pending.acceptedTerm < term) pending.state = 'queued'
      pending.notBefore = 0
    }
  }

  onTick({ now, hasLeft, unreadable }: NodeView): void {
    for (const pending of this.#pending.values()) {
      if (hasLeft || pending.deadline <= now) this.#fail(pending, this.#missed(pending, unreadable))
    }
  }

  /** The batcher of a leader has taken it, or not; nothing happens to one that has ended meanwhile. */
  onOutcome(sequence: number, outcome: ProposalOutcome, { now, leaderView }: NodeView): void {
    const pending = this.#pending.get(sequence)
    if (!pending) return
    pending.inFlight -= 1
    if (!outcome.accepted) {
      pending.lastRefusal = outcome.reason
      this.#retryLater(pending, now)
      return
    }
    pending.mayBeLogged = true
    pending.state = 'accepted'
    pending.acceptedTerm = outcome.term
    // This node may have learned of a newer leader while the answer was in flight.
    if (leaderView.term > outcome.term) this.#retryLater(pending, now)
  }

  onForwarded(id: number, answer: ForwardAnswer, view: NodeView): void {
    const sequences = this.#forwards.get(id)?.sequences ?? []
    this.#forwards.delete(id)
    for (const sequence of sequences) {
      if (answer.kind === 'answered') {
        const outcome = answer.outcomes.get(sequence)
        assert(outcome !== undefined, 'each forwarded proposal has an outcome')
        this.onOutcome(sequence, outcome, view)
      } else this.#onLost(sequence, answer.kind, view.now)
    }
  }

  /** The span of the request behind it; null: it is for no traced one. */
  traceOf(sequence: number): Traceparent | null {
    return this.#pending.get(sequence)?.trace ?? null
  }

  onApplied(sequence: number, reply: Uint8Array): void {
    const pending = this.#pending.get(sequence)
    if (!pending) return
    this.#forget(pending)
    pending.resolve(reply)
  }

  /** A snapshot brought effects without their replies. */
  onInstalled(hasTakenEffect: (sequence: number) => boolean): void {
    for (const pending of this.#pending.values()) {
      if (!hasTakenEffect(pending.sequence)) continue
      this.#fail(
        pending,
        new Condition('commit_unknown', 'Cannot tell the outcome: it arrived within a snapshot'),
      )
    }
  }

  /** Takes no more; proposals that are under way continue. */
  refuse(why: Condition): void {
    this.#closed ??= why
  }

  /** Resolves when nothing is pending. */
  idle(): Promise<void> {
    if (this.#pending.size === 0) return Promise.resolve()
    return new Promise((resolve) => (this.#onIdle = resolve))
  }

  /** Ends everything that is under way. */
  close(why: Condition): void {
    this.refuse(why)
    for (const pending of this.#pending.values()) {
      const unknown = new Condition('commit_unknown', `Cannot tell the outcome: ${why.message}`, {
        cause: why,
      })
      this.#fail(pending, mayBeLogged(pending) ? unknown : why)
    }
  }

  #admit(
    { command, need = 'growth', correction, cost, trace }: ProposalRequest,
    now: number,
    ends: Ends,
  ): void {
    const sequence = this.#nextSequence
    this.#nextSequence += 1
    this.#pending.set(sequence, {
      command,
      need,
      correction,
      cost,
      trace: trace ?? null,
      ...ends,
      sequence,
      deadline: now + this.#limits.proposalDeadlineMs,
      state: 'queued',
      inFlight: 0,
      mayBeLogged: false,
      acceptedTerm: 0,
      lastRefusal: null,
      attempts: 0,
      notBefore: 0,
    })
  }

  /** Proposals that arrive while a call is under way share the next one; only what does not fit into one call starts another one. */
  #mayForward(due: readonly Pending[]): boolean {
    if (this.#forwards.size === 0) return true
    return (
      this.#forwards.size < this.#limits.forwardsInflightMax && batchLength(due, this.#limits) < due.length
    )
  }

  #forward(leader: NodeId, batch: readonly Pending[]): ForwardIntent {
    this.#lastForward += 1
    const id = this.#lastForward
    const abort = new AbortController()
    this.#forwards.set(id, { leader, abort, sequences: batch.map(({ sequence }) => sequence) })
    return { type: 'forward', id, leader, proposals: this.#depart(batch), signal: abort.signal }
  }

  #onLost(sequence: number, kind: 'refused' | 'unknown', now: number): void {
    const pending = this.#pending.get(sequence)
    if (!pending) return
    pending.inFlight -= 1
    if (kind === 'unknown') pending.mayBeLogged = true
    this.#retryLater(pending, now)
  }

  #depart(batch: readonly Pending[]): readonly NeedyProposal[] {
    const ackedBelow = this.#oldest()
    return batch.map((pending) => {
      const { sequence, command, correction, need, cost } = pending
      pending.state = 'travelling'
      pending.inFlight += 1
      return {
        ...this.#session,
        sequence,
        ackedBelow,
        command,
        ...(correction && { correction }),
        need,
        ...(cost !== undefined && { cost }),
      }
    })
  }

  #retryLater(pending: Pending, now: number): void {
    const { retryMinMs, retryMaxMs } = this.#limits
    pending.state = 'queued'
    pending.notBefore = now + Math.min(retryMinMs * 2 ** pending.attempts, retryMaxMs)
    pending.attempts += 1
  }

  #oldest(): number {
    for (const sequence of this.#pending.keys()) return sequence
    return this.#nextSequence
  }

  #missed(pending: Pending, unreadable: string | null): Condition {
    const { proposalDeadlineMs } = this.#limits
    const { lastRefusal } = pending
    if (mayBeLogged(pending)) {
      return new Condition(
        'commit_unknown',
        `Cannot tell the outcome: not applied here within ${proposalDeadlineMs} ms`,
      )
    }
    if (unreadable !== null) return new Condition('leader_not_ready', `Cannot propose: ${unreadable}`)
    if (lastRefusal === 'diskFull') return diskFull('the disk of the leader, or of a majority, is full')
    if (lastRefusal === 'backlogFull')
      return new Condition('slow_down', 'Cannot propose: the leader has too much to do')
    if (lastRefusal === 'leaderNotReady' || lastRefusal === 'transferring') {
      return new Condition('leader_not_ready', 'Cannot propose: the leader is not ready yet')
    }
    return new Condition('no_leader', `Cannot propose: no leader was reachable for ${proposalDeadlineMs} ms`)
  }

  #fail(pending: Pending, error: Condition): void {
    this.#forget(pending)
    this.counts.failed += 1
    pending.reject(error)
  }

  #forget(pending: Pending): void {
    this.#pending.delete(pending.sequence)
    if (this.#pending.size === 0) this.#onIdle?.()
  }
}

function diskFull(why: string): Condition {
  return new Condition('disk_full', `Cannot propose: ${why}; delete something, or free space there`, {
    retryAfterMs: DISK_FULL_RETRY_MS,
  })
}

function mayBeLogged(pending: Pending): boolean {
  return pending.mayBeLogged || pending.inFlight > 0
}
