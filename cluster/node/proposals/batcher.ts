/**
 * Group commit at the leader: many proposals, one entry, one fsync.
 *
 * Owns: the proposals that wait for their entry. Proposals of one turn share an entry, and so do those that arrive before the entry
 * before them is committed: each entry costs every node a flush, two requests and a batch of the state machine, regardless of its
 * size. A full batch does not wait; a batch that is only costly does. Knows nothing of: the core, replies, time.
 * Rule: it settles each proposal once, with the answer of the core; accepted means appended, not committed.
 */
import { encodeCommandEntry, encodeRaise, type Proposal } from '../base/log-entry.ts'
import type { LogIndex, Term } from '../../raft/types.ts'
import type { NodeLimits } from '../base/limits.ts'
import type { BatcherIntent, NeedyProposal, ProposalOutcome, ProposalRefusal, Requester } from './intents.ts'

/** Why nothing with some need is taken now, null when it is; and the time of an entry that is made now, in ms since 1970. */
export interface EntryTerms {
  readonly objection: ProposalRefusal | null
  readonly stamp: number
}

/** Rows that a small command changes, and the bytes of a larger one that count as one row more. */
const ROWS_UNSTATED = 12
const BYTES_PER_ROW = 64

interface Waiting {
  readonly proposal: Proposal
  readonly requester: Requester
}

export class Batcher {
  readonly #limits: NodeLimits
  readonly #queue: Waiting[] = []
  readonly #sealed = new Map<number, readonly Requester[]>()
  #queuedBytes = 0
  #lastId = 0
  /** The last write that the log was given, and the last one that is durable. */
  #appendedSequence = 0
  #durableSequence = 0
  /** The last entry that the core took from here, and the last one known to be committed. */
  #acceptedIndex: LogIndex = 0
  #committedIndex: LogIndex = 0

  constructor(limits: NodeLimits) {
    this.#limits = limits
  }

  /** `objection`: why nothing with the need of the proposal is taken now. */
  add(
    proposal: NeedyProposal,
    requester: Requester,
    objection: ProposalRefusal | null,
  ): readonly BatcherIntent[] {
    const isFull = this.#queue.length >= this.#limits.batcherQueueMax
    const reason = isFull ? 'backlogFull' : objection
    if (reason !== null) return refused([requester], reason)
    this.#queue.push({ proposal, requester })
    this.#queuedBytes += proposal.command.length
    return [{ type: 'sealSoon' }]
  }

  /** In an entry of its own, regardless of the queue. */
  raise(level: number, requester: Requester, { objection, stamp }: EntryTerms): readonly BatcherIntent[] {
    if (objection !== null) return refused([requester], objection)
    return this.#append(encodeRaise({ time: stamp, level }), [requester])
  }

  /** An entry that carries nothing but its stamp; none while another one is in flight. */
  stampTime({ objection, stamp }: EntryTerms): readonly BatcherIntent[] {
    if (objection !== null || this.#isBusy) return []
    return this.#append(encodeCommandEntry({ time: stamp, proposals: [] }), [])
  }

  /** An entry can be sealed now. */
  get isDue(): boolean {
    return this.#queue.length > 0 && (!this.#isBusy || this.#isFull)
  }

  /** Makes one entry of the first of the queue. Call it while `isDue`, each time after the intent before was carried out. */
  seal(stamp: number): readonly BatcherIntent[] {
    const head = this.#queue.slice(0, this.#limits.batchProposalsMax)
    const count = batchLength(upToCorrection(head), this.#limits)
    const batch = this.#queue.splice(0, count)
    const proposals = batch.map(({ proposal }) => proposal)
    this.#queuedBytes -= bytesOf(proposals)
    return this.#append(
      encodeCommandEntry({ time: stamp, proposals }),
      batch.map(({ requester }) => requester),
    )
  }

  onAccepted(id: number, term: Term, index: LogIndex): readonly BatcherIntent[] {
    this.#acceptedIndex = index
    return this.#settle(id, { accepted: true, term })
  }

  onRefused(id: number, reason: ProposalRefusal): readonly BatcherIntent[] {
    return this.#settle(id, { accepted: false, reason })
  }

  /** The log was given a write with this sequence. */
  onAppend(sequence: number): void {
    this.#appendedSequence = sequence
  }

  onDurable(sequence: number): void {
    this.#durableSequence = sequence
  }

  onCommitted(index: LogIndex): void {
    this.#committedIndex = index
  }

  /** What was accepted may never commit now, so the queue does not wait for it: the core refuses it with `notLeader`. */
  onLeadershipLost(): void {
    this.#acceptedIndex = 0
  }

  /** The core does not answer any more. */
  close(): readonly BatcherIntent[] {
    const requesters = [...this.#sealed.values(), this.#queue.splice(0).map(({ requester }) => requester)]
    this.#sealed.clear()
    this.#queuedBytes = 0
    return refused(requesters.flat(), 'notLeader')
  }

  /** An append waits for the disk, or for a majority. */
  get #isBusy(): boolean {
    return this.#durableSequence < this.#appendedSequence || this.#committedIndex < this.#acceptedIndex
  }

  get #isFull(): boolean {
    const { batchProposalsMax, batchBytesMax } = this.#limits
    return this.#queue.length >= batchProposalsMax || this.#queuedBytes >= batchBytesMax
  }

  #append(data: Uint8Array, requesters: readonly Requester[]): readonly BatcherIntent[] {
    this.#lastId += 1
    this.#sealed.set(this.#lastId, requesters)
    return [{ type: 'append', id: this.#lastId, data }]
  }

  #settle(id: number, outcome: ProposalOutcome): readonly BatcherIntent[] {
    const requesters = this.#sealed.get(id) ?? []
    this.#sealed.delete(id)
    return [{ type: 'settle', requesters, outcome }]
  }
}

function refused(requesters: readonly Requester[], reason: ProposalRefusal): readonly BatcherIntent[] {
  return [{ type: 'settle', requesters, outcome: { accepted: false, reason } }]
}

/** A correction of the time travels in an entry of its own, after the proposals before it. */
function upToCorrection(head: readonly Waiting[]): readonly Proposal[] {
  const at = head.findIndex(({ proposal }) => proposal.correction !== undefined)
  return head.slice(0, at < 0 ? undefined : Math.max(1, at)).map(({ proposal }) => proposal)
}

/** How many of the first proposals fit into one batch; at least one. */
export function batchLength(
  proposals: readonly Pick<Proposal, 'command' | 'cost'>[],
  limits: NodeLimits,
): number {
  let bytes = 0
  let cost = 0
  let count = 0
  for (const proposal of proposals) {
    bytes += proposal.command.length
    cost += costOf(proposal)
    const isFull = bytes > limits.batchBytesMax || cost > limits.batchCostMax
    if (count > 0 && (count >= limits.batchProposalsMax || isFull)) break
    count += 1
  }
  return count
}

/** Estimated from the bytes where it is not stated, as by a node of an older version. */
export function costOf({ command, cost }: Pick<Proposal, 'command' | 'cost'>): number {
  return cost ?? ROWS_UNSTATED + Math.ceil(command.length / BYTES_PER_ROW)
}

function bytesOf(proposals: readonly Proposal[]): number {
  return proposals.reduce((sum, { command }) => sum + command.length, 0)
}
