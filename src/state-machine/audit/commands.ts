/**
 * Commands about the audit log, and their replies.
 */
import type { AuditExportRecord, AuditKeysRecord, AuditSegmentRecord } from './records.ts'
import type { ChunkUse } from '../chunks/commands.ts'

export type AuditCommand =
  /** `count` rows of a spool of `node` from row `first` on, in the order of writing. `digest`: of the rows before they were packed. */
  | {
      readonly type: 'shipAudit'
      readonly node: string
      readonly spool: string
      readonly first: number
      readonly count: number
      readonly digest: string
      readonly packed: Uint8Array
    }
  /** Removes links older than `before`. */
  | { readonly type: 'trimAudit'; readonly before: number }
  /**
   * The copies of `chunk` hold the links of `segment`: removes the rows of the links. Refused while fewer than `copiesMin`
   * copies would be listed.
   */
  | {
      readonly type: 'sealAudit'
      readonly segment: AuditSegmentRecord
      readonly chunk: ChunkUse
      readonly copiesMin: number
    }
  | { readonly type: 'setAuditKeys'; readonly keys: AuditKeysRecord }
  /** Links before `next` were delivered outside of the cluster; `hash`: of the last of them. */
  | { readonly type: 'recordAuditExport'; readonly next: number; readonly hash: string }

export interface AuditReplies {
  /** Number of the first row of the spool that was not taken yet. */
  shipAudit: { readonly next: number }
  trimAudit: { readonly trimmed: number; readonly isMore: boolean }
  sealAudit: null
  setAuditKeys: AuditKeysRecord
  /** The place that is recorded, which may be further on. */
  recordAuditExport: AuditExportRecord
}
