/**
 * Row keys of approvals, and the range that listings read.
 */
import { join, type KeyRange, rangeOf, type RowKey } from '../base/row-key.ts'
import type { ApprovalListRecord, ApprovalRecord } from './records.ts'

export const approvalKeys = {
  approval: (approvalId: string): RowKey<ApprovalRecord> => join('approval', approvalId),
  approvalList: (): RowKey<ApprovalListRecord> => join('approvalList'),
} as const

export const approvalRanges = {
  approvals: (): KeyRange<ApprovalRecord> => rangeOf('approval'),
} as const
