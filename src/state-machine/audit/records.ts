/**
 * The audit log: the facts that it records of a request, and the rows that hold them.
 *
 * Owns: the shapes. A row is kept as the exact text that was hashed, so that anyone with the texts can check the chain
 * with any SHA-256. Rules: no secret, no token, no query string; a text is never serialized again after it was written.
 */
import type { Actor, Origin } from '../base/origin.ts'
import type { ChunkId } from '../base/record-ids.ts'

/** The hash that the first link continues. */
export const NO_LINK: string = '0'.repeat(64)

/** Links that one entry trims at most. */
export const AUDIT_TRIM_LINKS_MAX = 256

/** Characters of links that one entry trims at most; one link may exceed it. */
export const AUDIT_TRIM_CHARACTERS_MAX = 4_194_304

/** Whole segments that one entry trims at most. */
export const AUDIT_TRIM_SEGMENTS_MAX = 64

/** Links of one segment at most: the entry that registers it removes as many rows. */
export const AUDIT_SEGMENT_LINKS_MAX = 1_024

/** Spools (processes of nodes) whose rows one segment may hold. */
export const AUDIT_SEGMENT_SPOOLS_MAX = 256

/** Size of the Bloom filter of one segment. Bytes */
export const AUDIT_INDEX_BYTES_MAX = 65_536

/** Distinct codes that an index lists; with more it lists none. */
export const AUDIT_INDEX_CODES_MAX = 64

/** Rows of requests that one entry takes from a node at most. */
export const AUDIT_ROWS_MAX = 10_000

/** One request, as JSON. Its id follows from its place in the chain, its outcome from its code. */
export interface AuditRow {
  /** For a change the time of its entry; otherwise the cluster time, as the node knew it, when the response was sent. ms since 1970 */
  readonly time: number
  readonly requestId: string
  readonly api: Origin['api']
  /** The operationId; `unknown` for a path without a route, `unparsed` for input that is not an HTTP request. */
  readonly operation: string
  readonly method: string | null
  readonly path: string | null
  readonly tenantId: string | null
  readonly actor: Actor
  readonly bucket: string | null
  readonly key: string | null
  /** The version that was made or removed; otherwise the one that the request named. */
  readonly versionId: string | null
  /** Null: it follows from the code, or no response was sent. */
  readonly status: number | null
  /** Null: the request succeeded. */
  readonly code: string | null
  readonly reason: string | null
  readonly sourceIp: string | null
  readonly userAgent: string | null
  readonly bytesIn: number
  /** Null: not known when the row was written. */
  readonly bytesOut: number | null
  /** For a change only up to its proposal. */
  readonly durationMs: number
  readonly nodeId: string
  readonly details: AuditDetails | null
  /** Absent: one request. Otherwise the row stands for several that are alike, and the other members are those of the first of them. */
  readonly repeated?: RepeatedRequests
}

/** Requests with equal api, operation, code and status by one caller. The row has their latest time and the sums of their bytes. */
export interface RepeatedRequests {
  readonly count: number
  /** ms since 1970 */
  readonly firstTime: number
  readonly lastTime: number
  /** Address, IPv6 network of 64 bits or id of the caller; null: of many callers. */
  readonly from: string | null
}

export type AuditDetails = Readonly<Record<string, unknown>>

/** One link of the chain: the row of one change, or a batch of rows that a node shipped from its spool. */
export interface AuditLinkRecord {
  /** The `orderTime` of its entry; it never decreases. */
  readonly time: number
  /** An AuditRow; an AuditBatch if `packed` is not null. */
  readonly text: string
  /** The rows of a batch, one per line, compressed with zstd. */
  readonly packed: Uint8Array | null
  /** Digest of the previous hash, a line feed, and `text`. */
  readonly hash: string
}

/** The hashed text of a batch, as JSON. */
export interface AuditBatch {
  readonly time: number
  readonly nodeId: string
  readonly spool: string
  /** Number of its first row within the spool. */
  readonly first: number
  readonly count: number
  /** Digest of the plain rows. */
  readonly digest: string
}

export interface AuditHeadRecord {
  /** Sequence number of the next link. */
  readonly next: number
  readonly hash: string
  /** The oldest link that is kept, and the hash of the link before it. */
  readonly first: number
  readonly anchor: string
  /** Links before `next` are in segments; `hash` is the hash of the last of them. Absent: no segment was ever made. */
  readonly sealed?: { readonly next: number; readonly hash: string }
}

/** Links `first` to `next - 1`, stored in one chunk. docs/formats/audit-segment.md */
export interface AuditSegmentRecord {
  readonly first: number
  readonly next: number
  /** Hash of the link before the first one, and hash of the last one. */
  readonly anchor: string
  readonly hash: string
  /** Times of the first and of the last link. */
  readonly firstTime: number
  readonly lastTime: number
  readonly rows: number
  /** Size of the plain segment. */
  readonly bytes: number
  readonly chunkId: ChunkId
  /** Plain bytes of the chunk, which are the compressed segment. */
  readonly size: number
  /** The spools in this segment, each with the time of its last batch here. */
  readonly spools: readonly { readonly node: string; readonly spool: string; readonly time: number }[]
  readonly index: AuditIndex
}

/** What a segment may contain: no false negatives. */
export interface AuditIndex {
  /** Codes of the rows; a null member for rows that succeeded. Null: more than AUDIT_INDEX_CODES_MAX. */
  readonly codes: readonly (string | null)[] | null
  /** A Bloom filter over names. */
  readonly names: Uint8Array
}

/** Sealed under the master key: the key from which keys of segments are derived, and the key of their chunk ids. */
export interface AuditKeysRecord {
  readonly dataKey: Uint8Array
  readonly dedupKey: Uint8Array
}

/** Up to where the audit log was delivered outside of the cluster. */
export interface AuditExportRecord {
  /** Number of the first link that was not delivered. */
  readonly next: number
  /** Hash of the link before it. */
  readonly hash: string
  /** The `orderTime` of the entry that recorded it. */
  readonly time: number
}

/** How far the rows of one spool, of one process of a node, were taken. */
export interface AuditSpoolRecord {
  readonly next: number
  /** The `orderTime` of the last entry that took rows. */
  readonly time: number
}
