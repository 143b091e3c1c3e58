/**
 * The port through which the rows of the audit log are read.
 *
 * Owns: the contract. Knows nothing of: what is in segments; their rows alone are here.
 */
import type {
  AuditHeadRecord,
  AuditKeysRecord,
  AuditLinkRecord,
  AuditSegmentRecord,
} from '../../state-machine/audit/records.ts'

/** A row of the audit log, and its place in the chain. */
export interface PlacedLink {
  readonly sequence: number
  readonly link: AuditLinkRecord
}

export interface AuditReader {
  head(): AuditHeadRecord
  keys(): AuditKeysRecord | undefined
  /** Undefined: there is no such link, or it is in a segment. */
  link(sequence: number): AuditLinkRecord | undefined
  /** Links that are rows, those before `sequence`, the newest first; bounded, none only where none is left. */
  linksBefore(sequence: number): Promise<readonly PlacedLink[]>
  /** The same from `sequence` on, the oldest first. */
  linksFrom(sequence: number): Promise<readonly PlacedLink[]>
  /** The last segment that begins before `sequence`. */
  segmentBefore(sequence: number): Promise<AuditSegmentRecord | null>
}
