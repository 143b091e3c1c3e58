/**
 * Commands that change members, and their replies.
 */
import type { ClusterRecovery, FirstMember, HeldBytes, MembersRecord, NewMember } from './records.ts'
import type {
  MembershipKind,
  MembershipStep,
  OperationRecord,
  StandingBlocker,
} from '../operations/records.ts'

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
      /** From MEMBER_RULES_LEVEL on: what is to be moved, and how long all of it may take, as far as the asked node could tell. */
      readonly toMove?: HeldBytes
      readonly dueInMs?: number
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
      /** From MEMBER_RULES_LEVEL on: how long it may still take. Absent: as it was. */
      readonly dueInMs?: number
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

export interface Evacuation {
  readonly tenantId: string
  readonly chunkId: string
  readonly birth: string
  /** Who makes a copy; null: enough others hold one. */
  readonly target: string | null
  /** Listed copies beside the leaving node's without which its own must stay. */
  readonly copiesKept: number
}

export interface MembershipReplies {
  foundMembers: MembersRecord
  introduceMember: MembersRecord
  /** `operation` null: it is as it was asked for already. */
  startMembership: { readonly operation: OperationRecord | null; readonly configIndex: number }
  stepMembership: OperationRecord
  undoMembership: MembersRecord
  recoverCluster: ClusterRecovery
  evacuateCopies: { readonly moved: number; readonly last: number }
}
