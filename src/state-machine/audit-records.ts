/**
 * The audit log: what is written down of a request, and the rows that hold it.
 *
 * Owns: the shapes. A row is kept as the very text that was hashed, so that whoever has the texts can check the chain
 * with any SHA-256. Rules: no secret, no token, no query string; a text that was written once is never made anew.
 */
import type { Actor, Origin } from './origin.ts'

/** SHA-256 as lower-case hex of the UTF-8 of a text. The pure room has none of its own. */
export type TextDigest = (text: string) => string

/** What stands before the first link. */
export const NO_LINK: string = '0'.repeat(64)

/** Links that one entry trims. */
export const AUDIT_TRIM_LINKS_MAX = 256
/** And so many characters of them, or one link. */
export const AUDIT_TRIM_CHARACTERS_MAX = 4_194_304
/** Rows of requests that one entry takes over from a node. */
export const AUDIT_ROWS_MAX = 10_000

/** One request, as JSON. Its id and its outcome follow from its place and its code. */
export interface AuditRow {
  /** Of a change the time of its entry, else when the answer had left, by the clock of the node. ms since 1970 */
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
  /** Of its entry. */
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
}

/** How far the spool of one process of a node was taken over. */
export interface AuditSpoolRecord {
  readonly next: number
  /** Of the last entry that took some. */
  readonly time: number
}
