/**
 * The audit log: what is written down of a request, and the rows that hold it.
 *
 * Owns: the shapes. A row is kept as the very text that was hashed, so that whoever has the texts can check the chain
 * with any SHA-256. Rules: no secret, no token, no query string; a text that was written once is never made anew.
 */
import type { Actor, Origin } from '../base/origin.ts'
import type { ChunkId } from '../base/record-ids.ts'

/** What stands before the first link. */
export const NO_LINK: string = '0'.repeat(64)

/** Links that one entry trims. */
export const AUDIT_TRIM_LINKS_MAX = 256

/** And so many characters of them, or one link. */
export const AUDIT_TRIM_CHARACTERS_MAX = 4_194_304

/** Whole segments that one entry trims. */
export const AUDIT_TRIM_SEGMENTS_MAX = 64

/** Links of a segment: the entry that registers it removes as many rows. */
export const AUDIT_SEGMENT_LINKS_MAX = 1_024

/** Processes of nodes whose rows one segment may hold. */
export const AUDIT_SEGMENT_SPOOLS_MAX = 256

/** Of the index of one segment. Bytes */
export const AUDIT_INDEX_BYTES_MAX = 65_536

/** Distinct codes that an index lists; with more it lists none. */
export const AUDIT_INDEX_CODES_MAX = 64

/** Rows of requests that one entry takes over from a node. */
export const AUDIT_ROWS_MAX = 10_000

/** One request, as JSON. Its id and its outcome follow from its place and its code. */
export interface AuditRow {
  /** Of a change the time of its entry, else when the answer had left, by the time of the cluster as the node knows it. ms since 1970 */
  readonly time: number
  readonly requestId: string
  readonly api: Origin['api']
  /** The operationId; `unknown` for a path that is no route, `unparsed` for what is no request. */
  readonly operation: string
  readonly method: string | null
  readonly path: string | null
  readonly tenantId: string | null
  readonly actor: Actor
  readonly bucket: string | null
  readonly key: string | null
  /** The one that was made or removed; else the one that was asked for. */
  readonly versionId: string | null
  /** Null: it follows from the code, or nobody heard an answer. */
  readonly status: number | null
  /** Null: it went well. */
  readonly code: string | null
  readonly reason: string | null
  readonly sourceIp: string | null
  readonly userAgent: string | null
  readonly bytesIn: number
  /** Null: not known when the row was written. */
  readonly bytesOut: number | null
  /** Of a change up to its proposal. */
  readonly durationMs: number
  readonly nodeId: string
  readonly details: AuditDetails | null
}

export type AuditDetails = Readonly<Record<string, unknown>>

/** One link of the chain: the row of one change, or many rows that a node took over from its spool. */
export interface AuditLinkRecord {
  /** The `orderTime` of its entry: it never falls. */
  readonly time: number
  /** An AuditRow, or an AuditBatch where there is `packed`. */
  readonly text: string
  /** zstd of the rows of a batch, one a line. */
  readonly packed: Uint8Array | null
  /** Digest of the hash before, a line feed, and `text`. */
  readonly hash: string
}

/** What is hashed of a batch, as JSON. */
export interface AuditBatch {
  readonly time: number
  readonly nodeId: string
  readonly spool: string
  /** Of its first row within the spool. */
  readonly first: number
  readonly count: number
  /** Of the plain rows. */
  readonly digest: string
}

export interface AuditHeadRecord {
  /** Where the next link goes. */
  readonly next: number
  readonly hash: string
  /** The oldest link that is kept, and the hash of the one before it. */
  readonly first: number
  readonly anchor: string
  /** Links before `next` are in segments; `hash` is that of the last of them. Absent: no link ever was. */
  readonly sealed?: { readonly next: number; readonly hash: string }
}

/** Links `first` to `next - 1`, which lie in one chunk. docs/formats/audit-segment.md */
export interface AuditSegmentRecord {
  readonly first: number
  readonly next: number
  /** Of the link before the first one, and of the last one. */
  readonly anchor: string
  readonly hash: string
  /** Of the first and of the last link. */
  readonly firstTime: number
  readonly lastTime: number
  readonly rows: number
  /** Of the plain segment. */
  readonly bytes: number
  readonly chunkId: ChunkId
  /** Plain bytes of the chunk: the segment compressed. */
  readonly size: number
  /** With the time of the last batch of each spool in this segment. */
  readonly spools: readonly { readonly node: string; readonly spool: string; readonly time: number }[]
  readonly index: AuditIndex
}

/** What may be in a segment: what it denies is not there. */
export interface AuditIndex {
  /** Of rows that did not go well, and null for those that did. Null: more than AUDIT_INDEX_CODES_MAX. */
  readonly codes: readonly (string | null)[] | null
  /** A Bloom filter over names. */
  readonly names: Uint8Array
}

/** Sealed under the master key: the key that derives the keys of segments, and the key of their chunk ids. */
export interface AuditKeysRecord {
  readonly dataKey: Uint8Array
  readonly dedupKey: Uint8Array
}

/** How far the spool of one process of a node was taken over. */
export interface AuditSpoolRecord {
  readonly next: number
  /** Of the last entry that took some. */
  readonly time: number
}
