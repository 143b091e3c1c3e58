/**
 * Commands about the audit log, and their replies.
 */
import type { AuditKeysRecord, AuditSegmentRecord } from './records.ts'
import type { ChunkUse } from '../chunks/commands.ts'

export type AuditCommand =
  /** Rows `first` and on of a spool of `node`, in the order of its writing. `digest`: of the rows before they were packed. */
  | {
      readonly type: 'shipAudit'
      readonly node: string
      readonly spool: string
      readonly first: number
      readonly count: number
      readonly digest: string
      readonly packed: Uint8Array
    }
  /** Links older than `before` may go. */
  | { readonly type: 'trimAudit'; readonly before: number }
  /** The links of `segment` lie in the copies of `chunk`: their rows go. `copiesMin`: it is refused while fewer would be listed. */
  | {
      readonly type: 'sealAudit'
      readonly segment: AuditSegmentRecord
      readonly chunk: ChunkUse
      readonly copiesMin: number
    }
  | { readonly type: 'setAuditKeys'; readonly keys: AuditKeysRecord }

export interface AuditReplies {
  /** Number of the first row of the spool that is not there yet. */
  shipAudit: { readonly next: number }
  trimAudit: { readonly trimmed: number; readonly isMore: boolean }
  sealAudit: null
  setAuditKeys: AuditKeysRecord
}
