/**
 * What the replicated metadata consists of: one record type per kind of row.
 *
 * Owns: the shapes. Plain data that MessagePack can carry: no Date, no Map, no undefined members (null instead).
 * Times are milliseconds since 1970 UTC as stamped by the log; sizes are bytes. Layout of the row keys: keys.ts.
 */
import type { MembershipKind, StandingBlocker } from './member-records.ts'
import type { AccessKeyId, AccountId, ChunkId, TenantId } from './record-ids.ts'

export * from './member-records.ts'
export * from './notification-records.ts'
export * from './object-records.ts'
export * from './record-ids.ts'

/** Master keys in the file of a node. */
export const MASTER_KEYS_MAX = 8
/** Of a bucket policy as JSON. */
export const BUCKET_POLICY_BYTES_MAX = 20 * 1024
/** Sealed secrets that one entry replaces at most. */
export const REWRAP_ITEMS_MAX = 256
/** Active ones, expired or not: one entry can revoke them all. */
export const ACCESS_KEYS_PER_TENANT_MAX = 1_000
/** Beyond them the key that was revoked first is forgotten. */
export const REVOKED_KEYS_KEPT_MAX = 1_000
export const ACCOUNTS_PER_TENANT_MAX = 1_000
/** Of keys and tokens together, in one entry. */
export const USES_PER_ENTRY_MAX = 1_000

export interface TenantRecord {
  readonly id: TenantId
  readonly name: string
  /** Only ever the next one. */
  readonly status: 'active' | 'disabled' | 'deleting' | 'deleted'
  readonly createdAt: number
  readonly disabledAt: number | null
  readonly disabledReason: string | null
  /** Sealed under the master key: the key that derives chunk keys, and the key of the chunk ids. Empty once shredded. */
  readonly dataKey: Uint8Array
  readonly dedupKey: Uint8Array
  /** Which master key sealed them. */
  readonly masterKeyId: string
  readonly bucketCount: number
  /** The operation that deletes it, or did. Absent: nobody asked for that. */
  readonly deletion?: string
  /** Absent: it is not deleted. */
  readonly deletedAt?: number
}

export interface AccessKeyRecord {
  readonly accessKeyId: AccessKeyId
  readonly tenantId: TenantId
  /** Of this tenant; null: it belongs to none. Never changes. */
  readonly accountId: AccountId | null
  readonly name: string | null
  /** Verbatim, as the caller gave it. */
  readonly scopes: string
  /** Sealed under the master key. */
  readonly secret: Uint8Array
  readonly status: 'active' | 'revoked'
  /** Rises with every rotation; tokens carry it. */
  readonly version: number
  readonly createdAt: number
  readonly expiresAt: number | null
  readonly rotatedAt: number | null
  readonly revokedAt: number | null
  readonly revokedReason: string | null
  /** To about an hour: uses.ts. Null: never. */
  readonly lastUsedAt: number | null
}

/** Whom keys belong to: a program, a machine. It holds no right of its own. */
export interface AccountRecord {
  readonly accountId: AccountId
  readonly tenantId: TenantId
  /** No other account of the tenant has it. */
  readonly name: string
  readonly description: string
  readonly createdAt: number
  /** Its active keys, counted in the entries that make and revoke them. */
  readonly keyCount: number
}

/** One row a tenant, because apply reads single rows and is to find all keys of a tenant. Each key is in one of the lists. */
export interface TenantAccessRecord {
  readonly accountCount: number
  /** In the order in which they were made; at most ACCESS_KEYS_PER_TENANT_MAX. */
  readonly activeKeys: readonly AccessKeyId[]
  /** In the order in which they were revoked; at most REVOKED_KEYS_KEPT_MAX. */
  readonly revokedKeys: readonly AccessKeyId[]
}

export interface BucketPolicyRecord {
  /** JSON, as it was accepted. */
  readonly policy: string
  readonly updatedAt: number
}

export type AdminRole = 'viewer' | 'operator' | 'owner'

export interface AdminTokenRecord {
  readonly tokenId: string
  readonly name: string
  readonly role: AdminRole
  readonly tenantId: TenantId | null
  readonly createdAt: number
  readonly expiresAt: number | null
  readonly revokedAt: number | null
  /** To about an hour: uses.ts. Null: never. */
  readonly lastUsedAt: number | null
  /** SHA-256 of the whole token, lower-case hex. The token itself is stored nowhere. */
  readonly sha256: string
}

export interface ChunkRecord {
  readonly id: ChunkId
  readonly tenantId: TenantId
  /** `<session>-<sequence>`, births.ts. Copies of another birth are other files, whatever their bytes. */
  readonly birth: string
  /** Plain bytes, and sealed bytes as they lie on disk. */
  readonly size: number
  readonly sealedSize: number
  /** SHA-256 of the sealed bytes, lower-case hex. */
  readonly checksum: string
  /** Node ids that hold a durable copy. */
  readonly replicas: readonly string[]
  /** Node ids that should hold one and do not: exactly those with a repair row of this birth. Never also in `replicas`. */
  readonly owed: readonly string[]
  /** Object versions (each counted once per occurrence in a manifest) that need it. */
  readonly references: number
  /** Log index at which references fell to zero; null while referenced. A later commit may revive it until it is collected. */
  readonly condemnedAt: number | null
}

/** A copy that should exist and does not: the permission to write it. One row per (target node, chunk). */
export interface RepairRecord {
  readonly tenantId: TenantId
  readonly chunkId: ChunkId
  readonly birth: string
  readonly target: string
  /** When it was granted, for people. */
  readonly since: number
  /** Log index of the entry that granted it: a task granted anew is another one, and what is said of the old one is void. */
  readonly permit: number
  /** The node whose copy goes when this one is committed. */
  readonly replaces: string | null
  /** It goes only while as many copies as this stay. 0 without `replaces`. */
  readonly copiesKept: number
  /** The operation that asked for it. */
  readonly operation: string | null
}

/** Index: the chunk whose row names this birth, for whoever finds a copy and knows only its name. */
export interface MakingRecord {
  readonly tenantId: TenantId
}

/** Queue of what may be collected, in the order in which it was condemned. */
export interface CondemnedRecord {
  readonly tenantId: TenantId
  readonly chunkId: ChunkId
  readonly birth: string
  readonly condemnedAt: number
}

/** Permission and duty of one node to remove one copy: no row names it for this node any more. */
export interface DropRecord {
  readonly node: string
  readonly id: ChunkId
  readonly birth: string
}

/** One run of a gateway. What it uploads is named `<session>-<sequence>`. */
export interface SessionRecord {
  readonly node: string
  /** Every upload with a smaller sequence has ended: none of them commits any more. Never falls. */
  readonly lowWater: number
  /** Nothing of this session commits any more. Never opened again. */
  readonly closed: boolean
}

/** Exact at any moment: each figure changes in the entry that changes what it counts. */
export interface UsageRecord {
  /** As of buckets, summed. */
  readonly objects: number
  readonly versions: number
  readonly deleteMarkers: number
  readonly logicalBytes: number
  readonly uploads: number
  readonly uploadBytes: number
  /** Chunks with a row, condemned ones too: their bytes still lie on disks. */
  readonly chunkCount: number
  readonly chunkBytes: number
  readonly storedBytes: number
  /** Sealed bytes times listed copies. */
  readonly copyBytes: number
  readonly inlineBytes: number
  /** Plain bytes of chunks that are referred to again: what would be stored as well if nothing were shared. */
  readonly dedupSavedBytes: number
  /** Plain bytes of chunks less their sealed bytes, of those that are smaller sealed. */
  readonly compressionSavedBytes: number
}

/** What operators set for the whole cluster. */
export interface SettingsRecord {
  /** Not null: nothing is collected until somebody has looked. */
  readonly collectionHalted: { readonly reason: string; readonly since: number } | null
  /** Of each node; null: as configured. */
  readonly repairBytesPerSecond: number | null
  /** By the last recount that came to its end, on whatever node. */
  readonly lastRecount: RecountRecord | null
  /** Who let the collection go on after it was halted, and why. */
  readonly collectionResumed: {
    readonly requestedBy: string
    readonly reason: string
    readonly at: number
  } | null
}

export interface RecountRecord {
  readonly node: string
  readonly at: number
  readonly rows: number
  readonly differences: number
  /** The first of them, in a sentence. */
  readonly first: string | null
}

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
  /** It is to be given up unless votes have moved, which only its driver can tell. Absent: nobody asked for it. */
  readonly isRevoked?: boolean
  /** One sentence, when it failed. */
  readonly error: string | null
}

/** The one row that says which master key this cluster seals with. */
export interface ClusterKeyRecord {
  readonly masterKeyFingerprint: string
  /** By node: the master keys it has, the one it wants first. Absent before the first node said so. */
  readonly holders?: Readonly<Record<string, readonly string[]>>
}
