/**
 * Row keys of the audit log, and the ranges that listings read.
 */
import { hex, INDEX_DIGITS, join, type KeyRange, rangeOf, type RowKey, SEPARATOR } from '../base/row-key.ts'
import type {
  AuditExportRecord,
  AuditHeadRecord,
  AuditKeysRecord,
  AuditLinkRecord,
  AuditSegmentRecord,
  AuditSpoolRecord,
} from './records.ts'

export const auditRowKeys = {
  /** By its place in the chain: new links go to the end of the key range, trimming starts at its beginning. */
  auditLink: (sequence: number): RowKey<AuditLinkRecord> => join('auditLink', hex(sequence, INDEX_DIGITS)),
  auditHead: (): RowKey<AuditHeadRecord> => join('auditHead'),
  /** By its first link. */
  auditSegment: (first: number): RowKey<AuditSegmentRecord> => join('auditSegment', hex(first, INDEX_DIGITS)),
  auditKeys: (): RowKey<AuditKeysRecord> => join('auditKeys'),
  auditExport: (): RowKey<AuditExportRecord> => join('auditExport'),
  auditSpool: (node: string, spool: string): RowKey<AuditSpoolRecord> => join('auditSpool', node, spool),
} as const

export const auditRanges = {
  auditLinks: (): KeyRange<AuditLinkRecord> => rangeOf('auditLink'),
  auditSegments: (): KeyRange<AuditSegmentRecord> => rangeOf('auditSegment'),
} as const

/** The place of a link in the chain. */
export function auditSequenceOf(key: RowKey<AuditLinkRecord>): number {
  const [, sequence = ''] = key.split(SEPARATOR)
  return Number.parseInt(sequence, 16)
}
