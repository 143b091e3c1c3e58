/**
 * Commands that change members, and their replies.
 */
import type { ClusterRecovery, FirstMember, HeldBytes, MembersRecord, NewMember } from './records.ts'
import type {
  MembershipKind,
  MembershipStep,
  LongOperation,
  PersistentBlocker,
} from '../long-operations/records.ts'

export type MembershipCommand =
  /** The first writer wins. */
  | { readonly type: 'foundMembers'; readonly members: readonly FirstMember[] }
  /** A node reports its identity; for a founder the first data directory that reports is bound to the name. */
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
  /** Replaces what was set for the member; both null: its file holds again. */
  | {
      readonly type: 'placeMember'
      readonly nodeId: string
      readonly zone: string | null
      readonly weight: number | null
      /** Copies without which no upload is acknowledged. */
      readonly copiesNeeded: number
    }
  | {
      readonly type: 'startMembership'
      readonly operationId: string
      readonly kind: MembershipKind
      readonly requestedBy: string
      readonly reason: string
      /** The member that changes; in a replacement the old member. */
      readonly nodeId: string
      readonly newcomer: NewMember | null
      /** Null: any index. */
      readonly expectedConfigIndex: number | null
      /** Reachability of the members at the time of the request, for the audit log. */
      readonly seen: string
      /** From MEMBER_RULES_LEVEL on: what has to be moved, and the expected duration, both estimated by the requested node. */
      readonly toMove?: HeldBytes
      readonly dueInMs?: number
    }
  /** Compare and set. With `from` equal to `to` it only reports the phase. */
  | {
      readonly type: 'stepMembership'
      readonly operationId: string
      readonly from: MembershipStep
      readonly to: MembershipStep
      readonly phase: string
      /** Absent: nothing blocks it. */
      readonly blocker?: PersistentBlocker
      /** From MEMBER_RULES_LEVEL on: the expected remaining time. Absent: unchanged. */
      readonly dueInMs?: number
    }
  /** In the entry that brings the cluster back after its quorum was lost; no node proposes it. */
  | ({ readonly type: 'recoverCluster' } & Omit<ClusterRecovery, 'at' | 'index'>)
  /** A cancelled operation has left no trace in the configuration. */
  | { readonly type: 'undoMembership'; readonly operationId: string }
  /** Copies of a leaving member: each is made on another node, or is not needed. */
  | {
      readonly type: 'evacuateCopies'
      readonly operation: string
      readonly items: readonly Evacuation[]
    }

export interface Evacuation {
  readonly tenantId: string
  readonly chunkId: string
  readonly birth: string
  /** The node that makes a copy; null: enough other nodes hold one. */
  readonly target: string | null
  /** The copy of the leaving node stays until this many other copies are listed. */
  readonly copiesKept: number
}

export interface MembershipReplies {
  foundMembers: MembersRecord
  introduceMember: MembersRecord
  placeMember: MembersRecord
  /** `operation` null: the members are already as requested. */
  startMembership: { readonly operation: LongOperation | null; readonly configIndex: number }
  stepMembership: LongOperation
  undoMembership: MembersRecord
  recoverCluster: ClusterRecovery
  evacuateCopies: { readonly moved: number; readonly last: number }
}
