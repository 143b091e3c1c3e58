/**
 * The types about members that cluster/ exports: what a member, and a node that may become one, report of themselves.
 *
 * Owns: these shapes. Knows nothing of: votes, phases, how a node is asked.
 */
import type { LogIndex, NodeId } from '../raft/types.ts'
import type { MemberDoubt } from './member-doubt.ts'

/** The status of one member, as it reports it. */
export interface MemberStatus {
  readonly nodeId: NodeId
  readonly incarnation: string
  readonly version: string
  /** The feature level that its code can apply. */
  readonly featureLevel: number
  /** The feature level of its state. */
  readonly stateLevel: number
  readonly isJoining: boolean
  readonly isReady: boolean
  readonly isLeader: boolean
  readonly term: number
  readonly leaderId: NodeId | null
  readonly commitIndex: LogIndex
  readonly appliedIndex: LogIndex
  readonly configuration: {
    readonly voters: readonly NodeId[]
    readonly learners: readonly NodeId[]
    /** Not empty: a change of more than one vote is under way. */
    readonly outgoing: readonly NodeId[]
  }
  readonly configurationIndex: LogIndex
  /** At the leader: all others. */
  readonly peers: readonly {
    readonly nodeId: NodeId
    readonly matchIndex: LogIndex
    readonly silentMs: number
    /** Behind the end of the leader's log. */
    readonly lagEntries: number
    readonly lagBytes: number
  }[]
  /** Milliseconds since this member last received from each member; from a missing one this process has not received. */
  readonly heardMs: Readonly<Record<NodeId, number>>
  /** Rises when the group is brought back from a lost quorum. Absent: reported by a version without epochs. */
  readonly recoveryEpoch?: number
  /** Its own doubt, and those it knows of other members. Absent: reported by a version without doubts. */
  readonly doubts?: readonly MemberDoubt[]
  /** Downloads of objects that it serves now. Absent: not counted, or reported by a version that does not count them. */
  readonly downloads?: number
  /** Checksums of the state at some applied indexes: equal indexes have equal checksums on every node. */
  readonly checksums: readonly (readonly [index: LogIndex, checksum: string])[]
}

/** The answer of a node that is asked whether it can be added. */
export interface NewcomerStatus {
  readonly registered?: string | null
  readonly nodeId: NodeId
  readonly incarnation: string
  /** It has never voted and waits to be added. */
  readonly isJoining: boolean
  readonly featureLevel: number
  readonly version: string
  /** SHA-256 of the certificate that it presented to the asking node. Null or absent: nodes connect without TLS. */
  readonly fingerprint?: string | null
}
