/**
 * The proposals of this process from the call of `propose` until their reply.
 *
 * Owns: sequences, retries, deadlines. Knows nothing of: how a leader batches, what a command means.
 * Rule: a retry keeps its sequence, and a proposal ends only by its apply on this node or by its deadline. Once it may have reached a
 * log its failure is `commit_unknown`, because nobody can call it back.
 */
import { Condition, type ProposeOptions, type RoomNeed, type TimeCorrection } from '../../base/types.ts'
import { assert } from '../../base/assert.ts'
import { batchLength, type NeedyProposal, type ProposalOutcome, type ProposalRefusal } from './batcher.ts'
import { PeerRefusedError } from '../../transport/transport.ts'
import type { NodeId, Term } from '../../raft/types.ts'
import type { Clock } from '../../base/clock.ts'
import type { NodeLimits } from '../base/limits.ts'
import type { SessionId } from '../base/log-entry.ts'
import type { Route } from '../base/route.ts'

export interface ProposalsParts {
  readonly clock: Clock
  readonly limits: NodeLimits
  readonly session: SessionId
  readonly route: () => Route
  /** Why no disk has room for such a proposal, as a sentence without its end; null when there is some. */
  readonly lacksRoom: (need: RoomNeed) => string | null
  /** Why there is no state here that could reply, as a sentence; null when there is. */
  readonly unreadable: () => string | null
  /** This node is heard by nobody any more, for ever: nothing is worth waiting for. */
  readonly hasLeft: () => boolean
  /** Into the batcher of this node. */
  readonly offer: (proposal: NeedyProposal, settle: (outcome: ProposalOutcome) => void) => void
  /** To another node. Rejects with PeerRefusedError when nothing happened, with anything else when nothing is known. */
  readonly forward: (
    leader: NodeId,
    proposals: readonly NeedyProposal[],
    signal: AbortSignal,
  ) => Promise<ReadonlyMap<number, ProposalOutcome>>
}

/** Nobody frees a disk within a second. ms */
const DISK_FULL_RETRY_MS = 10_000

interface Pending {
  readonly sequence: number
  readonly command: Uint8Array
  readonly correction: TimeCorrection | undefined
  readonly need: RoomNeed
  readonly cost: number | undefined
  readonly deadline: number
  readonly resolve: (reply: Uint8Array) => void
  readonly reject: (error: Error) => void
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
  readonly #parts: ProposalsParts
  /** In the order of the sequences: the first is the oldest. */
  readonly #pending = new Map<number, Pending>()
  #nextSequence = 1
  readonly #forwards = new Set<{ readonly leader: NodeId; readonly abort: AbortController }>()
  #isScheduled = false
  #closed: Condition | null = null
  #onIdle: (() => void) | null = null
  readonly counts = { proposed: 0, failed: 0 }

  constructor(parts: ProposalsParts) {
    this.#parts = parts
  }

  get pendingCount(): number {
    return this.#pending.size
  }

  async propose(command: Uint8Array, how: ProposeOptions = {}): Promise<Uint8Array> {
    const { need = 'growth', correction, cost } = how
    const { limits } = this.#parts
    assert(command.length <= limits.commandBytesMax, `a command has at most ${limits.commandBytesMax} bytes`)
    if (this.#closed) throw this.#closed
    const lack = this.#parts.lacksRoom(need)
    if (lack !== null) throw diskFull(lack)
    const oldest = this.#oldest()
    if (
      this.#pending.size >= limits.proposalsPendingMax ||
      this.#nextSequence - oldest >= limits.sequenceWindowMax
    ) {
      throw new Condition(
        'slow_down',
        `Cannot propose: ${this.#pending.size} proposals of this node are unfinished`,
      )
    }
    this.counts.proposed += 1
    return new Promise((resolve, reject) => this.#admit({ command, need, correction, cost, resolve, reject }))
  }

  /** A leader became known or was lost. What an older leader accepted may be gone with it: ask the new one as well. */
  onRoute(): void {
    const { leaderId, term } = this.#parts.route()
    if (leaderId === null) return
    for (const { leader, abort } of this.#forwards) if (leader !== leaderId) abort.abort()
    for (const pending of this.#pending.values()) {
      if (pending.state === 'accepted' && pending.acceptedTerm < term) pending.state = 'queued'
      pending.notBefore = 0
    }
    this.#schedule()
  }

  onTick(): void {
    const now = this.#parts.hasLeft() ? Number.POSITIVE_INFINITY : this.#parts.clock.now()
    for (const pending of this.#pending.values()) {
      if (pending.deadline <= now) this.#fail(pending, this.#missed(pending))
    }
    this.#schedule()
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
    this.#schedule()
  }

  /** Takes no more; what is under way goes on. */
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

  #admit(asked: Pick<Pending, 'command' | 'need' | 'correction' | 'cost' | 'resolve' | 'reject'>): void {
    const sequence = this.#nextSequence
    this.#nextSequence += 1
    this.#pending.set(sequence, {
      ...asked,
      sequence,
      deadline: this.#parts.clock.now() + this.#parts.limits.proposalDeadlineMs,
      state: 'queued',
      inFlight: 0,
      mayBeLogged: false,
      acceptedTerm: 0,
      lastRefusal: null,
      attempts: 0,
      notBefore: 0,
    })
    this.#schedule()
  }

  /** One dispatch for everything that is proposed in one turn. */
  #schedule(): void {
    if (this.#isScheduled || this.#pending.size === 0) return
    this.#isScheduled = true
    queueMicrotask(() => {
      this.#isScheduled = false
      this.#dispatch()
    })
  }

  #dispatch(): void {
    const { leaderId, isLeader } = this.#parts.route()
    // What is proposed without a state comes back within another one, as unknown; not proposed, it is refused for certain.
    if (leaderId === null || this.#parts.unreadable() !== null) return
    const now = this.#parts.clock.now()
    let due = [...this.#pending.values()].filter((p) => p.state === 'queued' && p.notBefore <= now)
    if (isLeader) {
      for (const pending of due) this.#offer(pending)
      return
    }
    while (due.length > 0 && this.#mayForward(due)) {
      const count = batchLength(due, this.#parts.limits)
      void this.#forward(leaderId, due.slice(0, count))
      due = due.slice(count)
    }
  }

  /** What comes while a call is under way travels together in the next one; only what no longer fits into one call overtakes it. */
  #mayForward(due: readonly Pending[]): boolean {
    const { limits } = this.#parts
    if (this.#forwards.size === 0) return true
    return this.#forwards.size < limits.forwardsInflightMax && batchLength(due, limits) < due.length
  }

  #offer(pending: Pending): void {
    this.#parts.offer(this.#depart(pending), (outcome) => this.#settle(pending, outcome))
  }

  async #forward(leader: NodeId, batch: readonly Pending[]): Promise<void> {
    const under = { leader, abort: new AbortController() }
    this.#forwards.add(under)
    const proposals = batch.map((pending) => this.#depart(pending))
    try {
      const outcomes = await this.#parts.forward(leader, proposals, under.abort.signal)
      for (const pending of batch) {
        const outcome = outcomes.get(pending.sequence)
        assert(outcome !== undefined, 'each forwarded proposal has an outcome')
        this.#settle(pending, outcome)
      }
    } catch (error) {
      for (const pending of batch) this.#settleLost(pending, error)
    } finally {
      this.#forwards.delete(under)
      this.#schedule()
    }
  }

  #depart(pending: Pending): NeedyProposal {
    pending.state = 'travelling'
    pending.inFlight += 1
    return {
      ...this.#parts.session,
      sequence: pending.sequence,
      ackedBelow: this.#oldest(),
      command: pending.command,
      ...(pending.correction && { correction: pending.correction }),
      need: pending.need,
      ...(pending.cost !== undefined && { cost: pending.cost }),
    }
  }

  #settle(pending: Pending, outcome: ProposalOutcome): void {
    pending.inFlight -= 1
    if (!outcome.accepted) {
      pending.lastRefusal = outcome.reason
      this.#retryLater(pending)
      return
    }
    pending.mayBeLogged = true
    pending.state = 'accepted'
    pending.acceptedTerm = outcome.term
    // A newer leader may have been heard of while the answer travelled.
    if (this.#parts.route().term > outcome.term) this.#retryLater(pending)
  }

  #settleLost(pending: Pending, error: unknown): void {
    pending.inFlight -= 1
    if (!(error instanceof PeerRefusedError)) pending.mayBeLogged = true
    this.#retryLater(pending)
  }

  #retryLater(pending: Pending): void {
    const { retryMinMs, retryMaxMs } = this.#parts.limits
    pending.state = 'queued'
    pending.notBefore = this.#parts.clock.now() + Math.min(retryMinMs * 2 ** pending.attempts, retryMaxMs)
    pending.attempts += 1
  }

  #oldest(): number {
    for (const sequence of this.#pending.keys()) return sequence
    return this.#nextSequence
  }

  #missed(pending: Pending): Condition {
    const { proposalDeadlineMs } = this.#parts.limits
    const { lastRefusal } = pending
    if (mayBeLogged(pending)) {
      return new Condition(
        'commit_unknown',
        `Cannot tell the outcome: not applied here within ${proposalDeadlineMs} ms`,
      )
    }
    const why = this.#parts.unreadable()
    if (why !== null) return new Condition('leader_not_ready', `Cannot propose: ${why}`)
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
