/**
 * The rows and commands of membership.
 *
 * Owns: the shapes. A name is an operator's word for a machine; the incarnation is its data directory. Rule: a name that was removed or
 * lost stands in `departed` for ever and is never used again, whatever directory speaks under it.
 */
import type { BlockerCode } from './codes.ts'
import type { OperationRecord } from './records.ts'

/** As many as a group can use, and as a configuration entry takes. */
export const MEMBERS_MAX = 64
/** Names that left. Their list lies in one row. */
export const DEPARTED_MAX = 1024

export type MemberPhase =
  /** Learner: it copies state and log. */
  | 'joining'
  /** Voter. */
  | 'active'
  /** Its vote is taken or about to be; its copies move away. */
  | 'draining'
  /** Learner without a copy. */
  | 'drained'
  /** Never heard again: without vote, its copies do not count. */
  | 'lost'

export interface MemberAddresses {
  /** host:port */
  readonly peerAddress: string
  /** Where clients reach it; null: not told yet. */
  readonly dataAddress: string | null
  readonly adminAddress: string | null
}

export interface FirstMember extends MemberAddresses {
  readonly nodeId: string
  readonly zone: string
  /** Relative share of blobs. */
  readonly weight: number
}

export interface NewMember extends FirstMember {
  readonly incarnation: string
  readonly version: string
}

export interface MemberRecord extends FirstMember {
  /** Null: of a founder that has not spoken yet. */
  readonly incarnation: string | null
  readonly version: string | null
  readonly phase: MemberPhase
  readonly addedAt: number
}

export interface DepartedRecord {
  readonly nodeId: string
  readonly incarnation: string | null
  readonly how: 'lost' | 'removed'
  readonly reason: string | null
  readonly at: number
  readonly index: number
}

/** The one row that says who belongs. */
export interface MembersRecord {
  readonly members: readonly MemberRecord[]
  readonly departed: readonly DepartedRecord[]
  /** Log index of the entry that last changed who belongs, or how. */
  readonly configIndex: number
  /** The operation that may change votes now; there is one at a time. */
  readonly change: string | null
}

/** A gate of safety that keeps an operation where it is. */
export interface StandingBlocker {
  readonly code: BlockerCode
  /** What is wrong, and what to do. */
  readonly message: string
}

export const MEMBERSHIP_KINDS = ['join', 'demote', 'replace', 'lost', 'remove'] as const
export type MembershipKind = (typeof MEMBERSHIP_KINDS)[number]

/** Where a membership operation stands; it is the cursor of its row. */
export type MembershipStep =
  /** A learner copies state and log. The only step that can be cancelled. */
  | 'catchUp'
  /** The learner gets its vote; of a replacement the old member loses its own in the same change. */
  | 'promote'
  /** The vote is taken. */
  | 'demote'
  /** Copies move away. */
  | 'drain'
  /** Whether none has come back is looked at once more. */
  | 'verify'
  /** The member leaves the configuration. */
  | 'exclude'
  /** What it held is made again elsewhere. */
  | 'repair'
  | 'done'

export type MembershipCommand =
  /** The first writer wins. */
  | { readonly type: 'foundMembers'; readonly members: readonly FirstMember[] }
  /** A node says who it is; of a founder the first directory counts. */
  | {
      readonly type: 'introduceMember'
      readonly nodeId: string
      readonly incarnation: string
      readonly version: string
      readonly peerAddress: string
      readonly zone: string
      readonly weight: number
      readonly dataAddress: string | null
      readonly adminAddress: string | null
    }
  | {
      readonly type: 'startMembership'
      readonly operationId: string
      readonly kind: MembershipKind
      readonly requestedBy: string
      readonly reason: string
      /** Whom it is about; of a replacement the old member. */
      readonly nodeId: string
      readonly newcomer: NewMember | null
      /** Null: any. */
      readonly expectedConfigIndex: number | null
      /** What was seen of the living when it was asked for, for the audit log. */
      readonly seen: string
    }
  /** Compare and set. The same step again tells only what is being done. */
  | {
      readonly type: 'stepMembership'
      readonly operationId: string
      readonly from: MembershipStep
      readonly to: MembershipStep
      readonly phase: string
      /** Absent: it goes on. */
      readonly blocker?: StandingBlocker
    }
  /** In the entry that brings the cluster back after its quorum was lost; nobody proposes it. */
  | ({ readonly type: 'recoverCluster' } & Omit<ClusterRecovery, 'at' | 'index'>)
  /** A cancelled join has left nothing behind in the configuration. */
  | { readonly type: 'undoMembership'; readonly operationId: string }
  /** Copies of a member that leaves: they are made elsewhere, or are not needed. */
  | {
      readonly type: 'evacuateCopies'
      readonly operation: string
      readonly items: readonly Evacuation[]
    }

/** What a recovery from a lost quorum has cost, as far as the survivors could tell. */
export interface RecoveryLoss {
  /** Chunks that are needed and of which no survivor lists and holds a copy. */
  readonly chunks: number
  /** Object versions that need one of them. */
  readonly versions: number
}

/** One recovery from a lost quorum. It stands in the state for ever. */
export interface ClusterRecovery {
  readonly planId: string
  readonly epoch: number
  /** When the plan was made, and the time and index of its entry. */
  readonly plannedAt: number
  readonly at: number
  readonly index: number
  /** Whose log was taken. */
  readonly winner: string
  readonly survivors: readonly string[]
  /** Those of them that vote from then on. */
  readonly voters: readonly string[]
  readonly dead: readonly string[]
  /** Committed for certain before; what follows up to `index` is committed by the recovery, acknowledged before or not. */
  readonly certainThrough: number
  /** Entries after it may have been acknowledged and are gone; null: nothing acknowledged is missing. */
  readonly mayMissAfter: number | null
  readonly loss: RecoveryLoss
  /** From copies of data directories that were put back. */
  readonly isRestored: boolean
}

export interface Evacuation {
  readonly tenantId: string
  readonly chunkId: string
  readonly birth: string
  /** Who makes a copy; null: enough others hold one. */
  readonly target: string | null
  /** Listed copies beside the leaver's without which its own must stay. */
  readonly copiesKept: number
}

export interface MembershipReplyValues {
  foundMembers: MembersRecord
  introduceMember: MembersRecord
  /** `operation` null: it is as it was asked for already. */
  startMembership: { readonly operation: OperationRecord | null; readonly configIndex: number }
  stepMembership: OperationRecord
  undoMembership: MembersRecord
  recoverCluster: ClusterRecovery
  evacuateCopies: { readonly moved: number; readonly last: number }
}
