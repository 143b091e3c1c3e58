/**
 * Rows of members.
 *
 * Rule: a name that was removed or lost stands in `departed` and is not used again, whatever directory uses it; only the
 * oldest names that left empty are forgotten.
 */

/** As many as a group can use, and as a configuration entry takes. */
export const MEMBERS_MAX = 64

/** Names that left. Their list lies in one row. */
export const DEPARTED_MAX = 1024

/** Of them the latest, with those that were lost: a recovery from a lost quorum has room for everybody else. */
export const REMEMBERED_MAX = DEPARTED_MAX - MEMBERS_MAX

/**
 * From this feature level on a member that was marked lost is replaced, the oldest name that left empty is forgotten when the list is
 * full, and an operation says how much there is to move.
 */
export const MEMBER_RULES_LEVEL = 3

/** What a member holds when it begins to leave. */
export interface HeldBytes {
  readonly copies: number
  readonly bytes: number
}

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
