/**
 * Group commit at the leader: many proposals, one entry, one fsync.
 *
 * Owns: the proposals that wait for their entry. What arrives in one turn travels together, and so does everything that arrives
 * while the previous entry is on its way to a majority: each entry costs every node a flush, two requests and a batch of the
 * state machine, however little it carries. A full batch does not wait; one that is only costly does, for the one before it. Knows nothing of: who waits for a reply.
 * Rule: it answers each proposal once, with what the core said; accepted means appended, not committed.
 */
import { encodeCommandEntry, encodeRaise, type Proposal } from '../base/log-entry.ts'
import type { Input, LogIndex, RefusalReason, Term } from '../../raft/types.ts'
import type { RoomNeed } from '../../base/types.ts'
import type { NodeLimits } from '../base/limits.ts'

/** The core's reasons, and those that this node has before it asks the core. */
export type ProposalRefusal = RefusalReason | 'diskFull'

export type ProposalOutcome =
  | { readonly accepted: true; readonly term: Term }
  | { readonly accepted: false; readonly reason: ProposalRefusal }

export interface BatcherParts {
  /** With which the next entry is stamped. ms since 1970 */
  readonly stamp: () => number
  readonly limits: NodeLimits
  readonly submit: (input: Input) => void
  /** True while an append waits for the disk. */
  readonly isLogBusy: () => boolean
  /** Why nothing with this need can be taken now, or null. */
  readonly objection: (need: RoomNeed) => ProposalRefusal | null
}

/** What it needs room for is said beside it: it matters before the log, and is not written there. */
export interface NeedyProposal extends Proposal {
  readonly need: RoomNeed
}

/** What a small command changes, and how many bytes of a larger one stand for a row more. */
const ROWS_UNSAID = 12
const BYTES_PER_ROW = 64

type Settle = (outcome: ProposalOutcome) => void

interface Waiting {
  readonly proposal: Proposal
  readonly settle: Settle
}

export class Batcher {
  readonly #parts: BatcherParts
  readonly #queue: Waiting[] = []
  readonly #sealed = new Map<number, readonly Pick<Waiting, 'settle'>[]>()
  #queuedBytes = 0
  #lastId = 0
  #isScheduled = false
  /** The last entry that the core took from here, and the last one known to be committed. */
  #acceptedIndex: LogIndex = 0
  #committedIndex: LogIndex = 0

  constructor(parts: BatcherParts) {
    this.#parts = parts
  }

  add({ need, ...proposal }: NeedyProposal, settle: Settle): void {
    const isFull = this.#queue.length >= this.#parts.limits.batcherQueueMax
    const reason = isFull ? 'backlogFull' : this.#parts.objection(need)
    if (reason !== null) {
      settle({ accepted: false, reason })
      return
    }
    this.#queue.push({ proposal, settle })
    this.#queuedBytes += proposal.command.length
    if (this.#isScheduled) return
    this.#isScheduled = true
    queueMicrotask(() => {
      this.#isScheduled = false
      this.flush()
    })
  }

  /** In an entry of its own, whatever waits. */
  raise(level: number, settle: Settle): void {
    const reason = this.#parts.objection('upkeep')
    if (reason !== null) return settle({ accepted: false, reason })
    this.#submit(encodeRaise({ time: this.#parts.stamp(), level }), [{ settle }])
  }

  /** An entry that carries nothing but its stamp. */
  stampTime(): void {
    if (this.#parts.objection('upkeep') === null && !this.#isBusy())
      this.#submit(encodeCommandEntry({ time: this.#parts.stamp(), proposals: [] }), [])
  }

  /** Called again whenever the log has become idle. */
  flush(): void {
    while (this.#queue.length > 0 && (!this.#isBusy() || this.#isFull())) this.#seal()
  }

  onAccepted(id: number, term: Term, index: LogIndex): void {
    this.#acceptedIndex = index
    this.#settle(id, { accepted: true, term })
  }

  onCommitted(index: LogIndex): void {
    this.#committedIndex = index
    this.flush()
  }

  /** What was accepted may never commit now, so nothing waits for it; whoever is in the queue hears `notLeader` from the core. */
  onLeadershipLost(): void {
    this.#acceptedIndex = 0
    this.flush()
  }

  onRefused(id: number, reason: ProposalRefusal): void {
    this.#settle(id, { accepted: false, reason })
  }

  /** The core will not answer any more. */
  close(): void {
    const refused: ProposalOutcome = { accepted: false, reason: 'notLeader' }
    for (const id of this.#sealed.keys()) this.#settle(id, refused)
    for (const { settle } of this.#queue.splice(0)) settle(refused)
    this.#queuedBytes = 0
  }

  #isBusy(): boolean {
    return this.#parts.isLogBusy() || this.#committedIndex < this.#acceptedIndex
  }

  #isFull(): boolean {
    const { batchProposalsMax, batchBytesMax } = this.#parts.limits
    return this.#queue.length >= batchProposalsMax || this.#queuedBytes >= batchBytesMax
  }

  #seal(): void {
    const head = this.#queue.slice(0, this.#parts.limits.batchProposalsMax)
    const count = batchLength(upToCorrection(head), this.#parts.limits)
    const batch = this.#queue.splice(0, count)
    const proposals = batch.map(({ proposal }) => proposal)
    this.#queuedBytes -= bytesOf(proposals)
    this.#submit(encodeCommandEntry({ time: this.#parts.stamp(), proposals }), batch)
  }

  #submit(data: Uint8Array, askers: readonly Pick<Waiting, 'settle'>[]): void {
    this.#lastId += 1
    this.#sealed.set(this.#lastId, askers)
    this.#parts.submit({ type: 'propose', proposalId: this.#lastId, data })
  }

  #settle(id: number, outcome: ProposalOutcome): void {
    const batch = this.#sealed.get(id)
    this.#sealed.delete(id)
    for (const { settle } of batch ?? []) settle(outcome)
  }
}

/** A correction of the time travels alone, behind what came before it. */
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

/** Of one that comes without: a node of an older version says nothing. */
export function costOf({ command, cost }: Pick<Proposal, 'command' | 'cost'>): number {
  return cost ?? ROWS_UNSAID + Math.ceil(command.length / BYTES_PER_ROW)
}

function bytesOf(proposals: readonly Proposal[]): number {
  return proposals.reduce((sum, { command }) => sum + command.length, 0)
}
