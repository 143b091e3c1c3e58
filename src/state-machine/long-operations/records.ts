/**
 * Rows of long operations: a rebalance, a scrub, a change of members.
 */
import type { BlockerCode } from '../base/codes.ts'
import type { TenantId } from '../base/record-ids.ts'

export type LongOperationStatus = 'queued' | 'running' | 'paused' | 'succeeded' | 'failed' | 'cancelled'

/** In a tenant deletion the blobs are versions, delete markers and uploads, and the bytes are their logical bytes. */
export interface LongOperationProgress {
  readonly blobsTotal: number
  readonly blobsDone: number
  readonly bytesTotal: number
  /** Sealed bytes of the copies that were made for the operation. */
  readonly bytesMoved: number
  readonly checksumFailures: number
  /** Items that needed nothing, or whose task ended without a copy. */
  readonly skipped: number
  /** Tasks that were granted and have not ended; counted by apply. */
  readonly tasksOpen: number
}

/** One node's part of an operation that every node takes part in. Each report holds totals, so no work is counted twice. */
export interface LongOperationShare {
  readonly isDone: boolean
  /** Fraction done, [0, 1]. */
  readonly progress: number
  readonly copies: number
  readonly bytes: number
  readonly lost: number
}

export interface LongOperation {
  readonly operationId: string
  readonly kind:
    | 'rebalance'
    | 'recovery'
    | 'scrub'
    | 'recount'
    | 'tenantDeletion'
    | 'backup'
    | 'keyExchange'
    | 'backupPrune'
    | 'backupRestore'
    | 'backupVerify'
    | MembershipKind
  readonly status: LongOperationStatus
  /** What it does now, for people. */
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
  /** Only the driver interprets it; empty at the start. */
  readonly cursor: string
  readonly progress: LongOperationProgress
  /** Of a backup; absent for other kinds. Since level 7. */
  readonly backup?: BackupRun
  /** Of a prune of backups; absent for other kinds. Since level 7. */
  readonly prune?: BackupPrune
  /** Of a restore into the running cluster; absent for other kinds. Since level 7. */
  readonly restore?: BackupRestore
  /** Of a verification of a backup; absent for other kinds. Since level 7. */
  readonly verify?: BackupVerify
  /** By node; absent where the operation has no shares. */
  readonly shares?: Readonly<Record<string, LongOperationShare>>
  /** The joining node of a join or a replacement. Absent for other kinds. */
  readonly newcomer?: string | null
  /** Absent: nothing blocks it, or its driver has not reported a blocker. */
  readonly blocker?: PersistentBlocker
  /** The log time at which it ends if nothing delays it. Absent: its driver has not set it. */
  readonly dueAt?: number
  /** It is to be cancelled unless votes have moved; only its driver knows whether they have. Absent: no cancellation was requested. */
  readonly isRevoked?: boolean
  /** One sentence, if it failed. */
  readonly error: string | null
}

/** What a backup writes to, and which chunks it holds meanwhile. */
export interface BackupRun {
  /** Names the folder of the backup in its target. */
  readonly backupId: string
  /** Such as `directory:/mnt/backups`; names no secret. */
  readonly target: string
  /** Index of the entry that started it: chunks that were condemned later are kept. */
  readonly heldFrom: number
  /** Confirmed time at which the hold ends unless a step renews it. ms since 1970 */
  readonly heldUntil: number
}

/** How many backups stay by each rule; 0: the rule keeps none. */
export interface KeepRules {
  readonly last: number
  readonly hourly: number
  readonly daily: number
  readonly weekly: number
  readonly monthly: number
  readonly yearly: number
}

/** Of each rule. */
export const KEEP_MAX = 1_000

/** Removes backups of this cluster from a target. */
export interface BackupPrune {
  /** Such as `nas`; names no secret. */
  readonly target: string
  readonly keep: KeepRules
}

/** What a restore brings back, and as what. */
export interface RestoreScope {
  /** Such as `nas`; names no secret. */
  readonly target: string
  /** Of the cluster that made the backup. */
  readonly clusterId: string
  readonly backupId: string
  readonly from: {
    readonly tenantId: TenantId
    /** Null: all buckets of the tenant. */
    readonly bucket: string | null
  }
  readonly to: {
    readonly tenantId: TenantId
    /** Null: the tenant is a new one, and its buckets are called as they were. */
    readonly bucket: string | null
    /** Of the new tenant; null: it exists. */
    readonly tenantName: string | null
  }
}

export interface BackupRestore extends RestoreScope {
  /** Versions that did not come back. */
  readonly missingCount: number
  /** The first MISSING_VERSIONS_NAMED_MAX of them. */
  readonly missing: readonly MissingVersion[]
  /** The bucket of the destination that carries the mark of the operation. Absent: none does now. */
  readonly filling?: string
  /** The upload in which the parts of one large object are collected. Absent: there is none now. */
  readonly uploadId?: string
}

export interface MissingVersion {
  readonly bucket: string
  readonly key: string
  /** As clients knew it. */
  readonly versionId: string
  /** It was the newest of its key. */
  readonly isLatest: boolean
  readonly why: string
}

export const MISSING_VERSIONS_NAMED_MAX = 100

/** Reads everything of a backup back. */
export interface BackupVerify {
  readonly backupId: string
  /** Such as `nas`; names no secret. */
  readonly target: string
}

/** A safety check that an operation waits for. */
export interface PersistentBlocker {
  readonly code: BlockerCode
  /** What is wrong, and what to do. */
  readonly message: string
}

export const MEMBERSHIP_KINDS = ['join', 'demote', 'replace', 'lost', 'remove'] as const

export type MembershipKind = (typeof MEMBERSHIP_KINDS)[number]

/** The step of a membership operation; it is the cursor of its row. */
export type MembershipStep =
  /** A learner copies state and log. The only step that can be cancelled at once. */
  | 'catchUp'
  /** The learner gets a vote; in a replacement the old member loses its vote in the same change. */
  | 'promote'
  /** The member loses its vote. */
  | 'demote'
  /** Copies move to other nodes. */
  | 'drain'
  /** Checks once more that no copy has come back to the node. */
  | 'verify'
  /** The member leaves the configuration. */
  | 'exclude'
  /** Its copies are made again on other nodes. */
  | 'repair'
  | 'done'
