/**
 * Rows of long operations: a rebalance, a scrub, a change of members.
 */
import type { BlockerCode } from '../base/codes.ts'
import type { TenantId } from '../base/record-ids.ts'

export type OperationStatus = 'queued' | 'running' | 'paused' | 'succeeded' | 'failed' | 'cancelled'

/** Of a deletion the blobs are versions, delete markers and uploads, and the bytes are theirs as users count them. */
export interface OperationProgress {
  readonly blobsTotal: number
  readonly blobsDone: number
  readonly bytesTotal: number
  /** Sealed bytes of the copies that were made for it. */
  readonly bytesMoved: number
  readonly checksumFailures: number
  /** What needed nothing, or whose task ended without a copy. */
  readonly skipped: number
  /** Granted and not ended: counted by apply. */
  readonly tasksOpen: number
}

/** What one node has done of an operation in which each does its part. Told whole each time, so nothing is added up twice. */
export interface OperationShare {
  readonly isDone: boolean
  /** Part of the way, [0, 1]. */
  readonly progress: number
  readonly copies: number
  readonly bytes: number
  readonly lost: number
}

export interface OperationRecord {
  readonly operationId: string
  readonly kind: 'rebalance' | 'recovery' | 'scrub' | 'recount' | 'tenantDeletion' | MembershipKind
  readonly status: OperationStatus
  /** A word for people: what it does just now. */
  readonly phase: string
  readonly requestedBy: string
  readonly reason: string | null
  /** What it is limited to; null: not limited. */
  readonly tenantId: TenantId | null
  readonly bucket: string | null
  readonly node: string | null
  readonly maxBytesPerSecond: number | null
  readonly createdAt: number
  readonly startedAt: number | null
  readonly finishedAt: number | null
  /** The driver's own; empty at the beginning. */
  readonly cursor: string
  readonly progress: OperationProgress
  /** By node; absent where no node does a part of its own. */
  readonly shares?: Readonly<Record<string, OperationShare>>
  /** Of a join or a replacement: who comes. Absent for all others. */
  readonly newcomer?: string | null
  /** Absent: nothing holds it up, or its driver does not say. */
  readonly blocker?: StandingBlocker
  /** When it ends if nothing comes in between, by the time of the log. Absent: nobody has said. */
  readonly dueAt?: number
  /** It is to be given up unless votes have moved, which only its driver can tell. Absent: nobody asked for it. */
  readonly isRevoked?: boolean
  /** One sentence, when it failed. */
  readonly error: string | null
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
