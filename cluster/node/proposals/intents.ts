/**
 * What `Proposals` and `Batcher` want done, as data. `ProposalPath` carries each intent out, in the order of its list.
 */
import type { NodeId, RefusalReason, Term } from '../../raft/types.ts'
import type { RoomNeed } from '../../base/types.ts'
import type { Proposal } from '../base/log-entry.ts'

/** The core's reasons, and those that this node has before it asks the core. */
export type ProposalRefusal = RefusalReason | 'diskFull'

/** Accepted means appended to the log of a leader, not committed. */
export type ProposalOutcome =
  | { readonly accepted: true; readonly term: Term }
  | { readonly accepted: false; readonly reason: ProposalRefusal }

/** What it needs disk space for is stated beside it: it matters before the log, and is not written there. */
export interface NeedyProposal extends Proposal {
  readonly need: RoomNeed
}

/** Who gets the outcome: a proposal of this process by its sequence, or a propose call of a peer and other parts of this node. */
export type Requester =
  | { readonly kind: 'own'; readonly sequence: number }
  | { readonly kind: 'other'; readonly settle: (outcome: ProposalOutcome) => void }

/** Of a propose call: the outcome of each sequence; `refused`: nothing happened; `unknown`: anything may have happened. */
export type ForwardAnswer =
  | { readonly kind: 'answered'; readonly outcomes: ReadonlyMap<number, ProposalOutcome> }
  | { readonly kind: 'refused' | 'unknown' }

/** One propose call to the leader, answered by `onForwarded` under its id. */
export interface ForwardIntent {
  readonly type: 'forward'
  readonly id: number
  readonly leader: NodeId
  readonly proposals: readonly NeedyProposal[]
  readonly signal: AbortSignal
}

export type ProposalsIntent =
  /** This node leads: into its own batcher. */
  { readonly type: 'offer'; readonly proposals: readonly NeedyProposal[] } | ForwardIntent

export type BatcherIntent =
  /** A new entry for the core, answered by `onAccepted` or `onRefused` under its id. */
  | { readonly type: 'append'; readonly id: number; readonly data: Uint8Array }
  | { readonly type: 'settle'; readonly requesters: readonly Requester[]; readonly outcome: ProposalOutcome }
  /** Seal what is due once everything that this turn proposes is added. */
  | { readonly type: 'sealSoon' }
