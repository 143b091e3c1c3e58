/**
 * Rows of changes that wait for the approval of a second admin token, or have it.
 */
import type { TenantId } from '../base/record-ids.ts'

/** From the request to the end of its approval, given or not. ms */
export const APPROVAL_MS = 24 * 60 * 60_000

/** Rows in the cluster. */
export const APPROVALS_MAX = 128
/** Of them rows that access keys asked for, so that tenants cannot take all places. */
export const APPROVALS_OF_KEYS_MAX = 96
/** Of one admin token, or of all access keys of one tenant. */
export const APPROVALS_PER_REQUESTER_MAX = 16
/** Rows that have ended and are removed by one command. */
export const ENDED_APPROVALS_PER_STEP = 8

export interface Requester {
  readonly type: 'adminToken' | 'accessKey'
  /** Of the admin token or the access key. */
  readonly id: string
}

export interface ApprovalRecord {
  /** The gateway makes it from requester and change, so a repeated request finds its row. */
  readonly approvalId: string
  /** The operation that was refused without it. */
  readonly operation: string
  /** Null: the change is about the cluster. */
  readonly tenantId: TenantId | null
  /** What would be done, as JSON text; the change that uses the approval must have exactly this text. */
  readonly change: string
  readonly requestedBy: Requester
  /** Of a session: its user, who may have others. Absent: no person logged in for it. Since level 7. */
  readonly requestedByUser?: string
  readonly requestedAt: number
  /** From here on, by the time of the log, it neither can be given nor counts. */
  readonly expiresAt: number
  /** The admin token that approved it; null: it waits. */
  readonly approvedBy: string | null
  readonly approvedAt: number | null
}

/** One row, because apply reads only single rows and has to bound their number. Oldest first, at most APPROVALS_MAX. */
export interface ApprovalListRecord {
  readonly approvals: readonly ListedApproval[]
}

export interface ListedApproval {
  readonly approvalId: string
  /** Of an access key its tenant, of an admin token the token. */
  readonly requester: string
  readonly isOfKey: boolean
  readonly expiresAt: number
}
