/**
 * Commands about approvals, and their replies.
 */
import type { TenantId } from '../base/record-ids.ts'
import type { ApprovalRecord, Requester } from './records.ts'

/** With a change that a second admin token approved: the approval is used up in the entry of the change. */
export interface ApprovalUse {
  readonly approvalId: string
  /** The caller of the change, who is also the one that requested the approval. */
  readonly requestedBy: Requester
  readonly approvedBy: string
}

export type ApprovalCommand =
  | {
      readonly type: 'requestApproval'
      readonly approvalId: string
      readonly operation: string
      readonly tenantId: TenantId | null
      readonly change: string
      readonly requestedBy: Requester
    }
  | { readonly type: 'approveChange'; readonly approvalId: string; readonly approvedBy: string }
  /** The refusal of another, or the requester takes the request back. */
  | { readonly type: 'rejectChange'; readonly approvalId: string }
  /** For a change that the machine makes with its entry, and apply cannot refuse: the approval is used up before. */
  | { readonly type: 'useApproval'; readonly change: string; readonly approval: ApprovalUse }

export interface ApprovalReplies {
  requestApproval: ApprovalRecord
  approveChange: ApprovalRecord
  /** As it was. */
  rejectChange: ApprovalRecord
  useApproval: null
}
