/**
 * Rows of chunks, their copies, repair tasks and upload sessions, and the settings of the collection.
 */
import type { ChunkId, TenantId } from '../base/record-ids.ts'

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

export interface ChunkLink {
  readonly id: ChunkId
  /** Plain bytes of this chunk. */
  readonly size: number
}
