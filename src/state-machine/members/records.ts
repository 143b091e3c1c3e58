/**
 * Rows of members.
 *
 * Rule: the name of a removed or lost member is in `departed` and is not used again by any data directory; only the oldest
 * names of removed members are forgotten.
 */

/** Bounded by what a group can use and what a configuration entry may contain. */
export const MEMBERS_MAX = 64

/** Departed names; their list is in one row. */
export const DEPARTED_MAX = 1024

/** Departed names that are kept, lost ones included: so a quorum recovery has space for all other members. */
export const REMEMBERED_MAX = DEPARTED_MAX - MEMBERS_MAX

/**
 * From this feature level on a lost member can be replaced, the oldest name of a removed member is forgotten when the list is full,
 * and an operation records how much it has to move.
 */
export const MEMBER_RULES_LEVEL = 3

/** The largest weight of a member. */
export const WEIGHT_MAX = 1000

/** What the configuration file of a node says of its place. */
export interface FilePlace {
  readonly zone: string
  readonly weight: number
}

/** Since level 7: what an operator set for a member. Null: as in its file. */
export interface PlacementRecord {
  readonly zone: string | null
  readonly weight: number | null
  readonly file: FilePlace
}

/** What a member holds when it starts to leave. */
export interface HeldBytes {
  readonly copies: number
  readonly bytes: number
}

export type MemberPhase =
  /** Learner: it copies state and log. */
  | 'joining'
  /** Voter. */
  | 'active'
  /** It has lost its vote or is about to; its copies move to other nodes. */
  | 'draining'
  /** Learner without a copy. */
  | 'drained'
  /** Its messages are ignored; it has no vote, and its copies do not count. */
  | 'lost'

export interface MemberAddresses {
  /** host:port */
  readonly peerAddress: string
  /** Where clients reach it; null: not reported yet. */
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
  /** Null: a founder that has not introduced itself yet. */
  readonly incarnation: string | null
  readonly version: string | null
  readonly phase: MemberPhase
  readonly addedAt: number
  /** `zone` and `weight` follow from it. Absent: they are those of the file. */
  readonly placement?: PlacementRecord
}

export interface DepartedRecord {
  readonly nodeId: string
  readonly incarnation: string | null
  readonly how: 'lost' | 'removed'
  readonly reason: string | null
  readonly at: number
  readonly index: number
}

/** The one row of all members. */
export interface MembersRecord {
  readonly members: readonly MemberRecord[]
  readonly departed: readonly DepartedRecord[]
  /** Log index of the entry that last changed the members or their phases. */
  readonly configIndex: number
  /** The operation that may change votes now; there is one at a time. */
  readonly change: string | null
}

/** The loss by a quorum recovery, as far as the survivors can determine it. */
export interface RecoveryLoss {
  /** Needed chunks without a copy that is listed for a survivor and present there. */
  readonly chunks: number
  /** Object versions that need one of these chunks. */
  readonly versions: number
}

/** One quorum recovery. The record stays in the state permanently. */
export interface ClusterRecovery {
  readonly planId: string
  readonly epoch: number
  /** When the plan was made, and the time and index of its entry. */
  readonly plannedAt: number
  readonly at: number
  readonly index: number
  /** The node whose log was taken. */
  readonly winner: string
  readonly survivors: readonly string[]
  /** The survivors that vote afterwards. */
  readonly voters: readonly string[]
  readonly dead: readonly string[]
  /** Entries up to here were certainly committed before; the recovery commits those after it up to `index`, acknowledged or not. */
  readonly certainThrough: number
  /** Entries after it may have been acknowledged and are gone; null: nothing acknowledged is missing. */
  readonly mayMissAfter: number | null
  readonly loss: RecoveryLoss
  /** The recovery used restored copies of data directories. */
  readonly isRestored: boolean
}
