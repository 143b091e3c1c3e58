/**
 * Rows of chunks, their copies, repair tasks and upload sessions, and the settings of the collection.
 */
import type { ChunkId, TenantId } from '../base/record-ids.ts'

export interface ChunkRecord {
  readonly id: ChunkId
  readonly tenantId: TenantId
  /** `<session>-<sequence>`, births.ts. Copies of another birth are different files, even if their bytes are equal. */
  readonly birth: string
  /** Plain bytes, and sealed bytes on disk. */
  readonly size: number
  readonly sealedSize: number
  /** SHA-256 of the sealed bytes, lower-case hex. */
  readonly checksum: string
  /** Nodes that hold a durable copy. */
  readonly replicas: readonly string[]
  /** Nodes that should hold a copy and do not: exactly those with a repair row of this birth. Disjoint from `replicas`. */
  readonly owed: readonly string[]
  /** Number of occurrences in manifests; an audit segment counts one for its chunk. */
  readonly references: number
  /** Version of the tenant's data key that seals the copies. Absent: 1. */
  readonly keyVersion?: number
  /** The birth of the copies before these, if they were made by sealing those again: an upload may have found those. */
  readonly resealedFrom?: string
  /** Log index at which `references` became zero; null while referenced. Until it is collected a later commit may revive it. */
  readonly condemnedAt: number | null
}

/** A copy that should exist and does not: the permission to write it. One row per (target node, chunk). */
export interface RepairRecord {
  readonly tenantId: TenantId
  readonly chunkId: ChunkId
  readonly birth: string
  readonly target: string
  /** When the task was granted, for people. */
  readonly since: number
  /** Log index of the entry that granted the task: a task that is granted again is another one, and reports about the old one are void. */
  readonly permit: number
  /** The node whose copy is removed when this one is committed. */
  readonly replaces: string | null
  /** The replaced copy is removed only if this many copies stay. 0 without `replaces`. */
  readonly copiesKept: number
  /** The operation that requested the copy. */
  readonly operation: string | null
}

/** Index: the tenant of the chunk whose row has this birth, to look up a copy by its name. */
export interface MakingRecord {
  readonly tenantId: TenantId
}

/** Queue of the chunks that may be collected, in the order of condemnation. */
export interface CondemnedRecord {
  readonly tenantId: TenantId
  readonly chunkId: ChunkId
  readonly birth: string
  readonly condemnedAt: number
}

/** Permits and orders one node to remove one copy: no chunk row lists or owes it to this node any more. */
export interface DropRecord {
  readonly node: string
  readonly id: ChunkId
  readonly birth: string
}

/** One run of a gateway. Its births are `<session>-<sequence>`. */
export interface UploadSessionRecord {
  readonly node: string
  /** Every upload with a smaller sequence has ended and cannot commit any more. Never decreases. */
  readonly lowWater: number
  /** No upload of this session can commit any more. Never opened again. */
  readonly closed: boolean
}

/** Settings and status of the whole cluster. */
export interface SettingsRecord {
  /** Not null: nothing is collected until an operator resumes the collection. */
  readonly collectionHalted: { readonly reason: string; readonly since: number } | null
  /** For each node; null: the configured rate. */
  readonly repairBytesPerSecond: number | null
  /** The last recount that finished, on any node. */
  readonly lastRecount: RecountRecord | null
  /** The operator who last resumed the halted collection, and why. */
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
  /** The first difference, as a sentence. */
  readonly first: string | null
}

export interface ChunkLink {
  readonly id: ChunkId
  /** Plain bytes of this chunk. */
  readonly size: number
}
