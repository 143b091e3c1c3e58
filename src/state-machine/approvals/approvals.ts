/**
 * The second approval of a change: asked for, given or rejected, and used up once.
 *
 * Owns: the rows of approvals, their bounded number, their end. Knows nothing of: which changes need one; the gateway has a setting for it.
 * Rules: no token approves what it asked for; an approval counts for exactly its text, for its requester, once, until its end by the time of the
 * log, and only while the token that gave it is good. It is used up in the entry of the change, so a change that is refused keeps it.
 */
import type { ApplyContext, View } from '../base/view.ts'
import type { Draft } from '../base/draft.ts'
import { isKeyPart } from '../base/row-key.ts'
import { type Accepted, accept, type Refused, refuse } from '../base/reply.ts'
import { tenantKeys } from '../tenants/keys.ts'
import type { AdminTokenRecord } from '../tenants/records.ts'
import type { ApprovalCommand, ApprovalUse } from './commands.ts'
import { approvalKeys } from './keys.ts'
import {
  APPROVAL_MS,
  APPROVALS_MAX,
  APPROVALS_OF_KEYS_MAX,
  APPROVALS_PER_REQUESTER_MAX,
  type ApprovalRecord,
  type Requester,
  ENDED_APPROVALS_PER_STEP,
  type ListedApproval,
} from './records.ts'

type Of<T extends ApprovalCommand['type']> = Extract<ApprovalCommand, { type: T }>

/** Null: it may be used now. Otherwise why not. `time`: ms since 1970, of the log. */
export function approvalFault(view: View, approval: ApprovalRecord, time: number): string | null {
  if (time >= approval.expiresAt) return 'its approval has expired'
  if (approval.approvedBy === null) return 'no other owner has approved it yet'
  const token = view.get(tenantKeys.adminToken(approval.approvedBy))
  if (isGood(token, time)) return null
  return `admin token "${approval.approvedBy}", which approved it, was revoked or has expired`
}

/** Idempotent: a request that waits, or has an approval that still counts, is not started again. */
export function requestApproval(
  draft: Draft,
  command: Of<'requestApproval'>,
  context: ApplyContext,
): Accepted<ApprovalRecord> | Refused {
  const { approvalId, operation, tenantId, change, requestedBy } = command
  if (!isKeyPart(approvalId))
    return refuse('invalid_argument', 'Cannot request approval: its id is empty or malformed')
  const { time } = context
  const present = draft.get(approvalKeys.approval(approvalId))
  const isRunning = present !== undefined && time < present.expiresAt
  if (isRunning && (present.approvedBy === null || approvalFault(draft, present, time) === null))
    return accept(present)
  if (present !== undefined) drop(draft, [approvalId])
  dropEnded(draft, time)
  const listed = { approvalId, ...countedAs(requestedBy, tenantId), expiresAt: time + APPROVAL_MS }
  const fault = roomFault(listOf(draft), listed)
  if (fault !== null) return fault
  const record: ApprovalRecord = {
    approvalId,
    operation,
    tenantId,
    change,
    requestedBy: { type: requestedBy.type, id: requestedBy.id },
    ...userOf(draft, requestedBy),
    requestedAt: time,
    expiresAt: listed.expiresAt,
    approvedBy: null,
    approvedAt: null,
  }
  draft.put(approvalKeys.approval(approvalId), record)
  draft.put(approvalKeys.approvalList(), { approvals: [...listOf(draft), listed] })
  return accept(record)
}

/** Idempotent: the first approval stays as long as its token is good. */
export function approveChange(
  draft: Draft,
  { approvalId, approvedBy }: Of<'approveChange'>,
  { time }: ApplyContext,
): Accepted<ApprovalRecord> | Refused {
  const found = openApproval(draft, approvalId, time)
  if (!found.ok) return found
  const present = found.value
  if (present.requestedBy.id === approvedBy)
    return refuse(
      'access_denied',
      `Admin token "${approvedBy}" asked for this change itself: another one has to approve it`,
    )
  const token = draft.get(tenantKeys.adminToken(approvedBy))
  const userId = token?.session?.user.id
  if (userId !== undefined && userId === present.requestedByUser)
    return refuse('access_denied', 'The same person asked for this change: another one has to approve it')
  if (!isGood(token, time))
    return refuse('token_invalid', `Admin token "${approvedBy}" was revoked or has expired`)
  if (token.role !== 'owner')
    return refuse('access_denied', `Admin token "${approvedBy}" is no owner: only owners approve`)
  if (token.tenantId !== null && token.tenantId !== present.tenantId)
    return refuse('tenant_scope_denied', `Admin token "${approvedBy}" is limited to one tenant`)
  if (approvalFault(draft, present, time) === null) return accept(present)
  const approved = { ...present, approvedBy, approvedAt: time }
  draft.put(approvalKeys.approval(approvalId), approved)
  return accept(approved)
}

export function rejectChange(
  draft: Draft,
  { approvalId }: Of<'rejectChange'>,
  { time }: ApplyContext,
): Accepted<ApprovalRecord> | Refused {
  const found = openApproval(draft, approvalId, time)
  if (found.ok) drop(draft, [approvalId])
  return found
}

/** The approval was used up before this is called: `useUpApproval`. */
export function useApproval(): Accepted<null> {
  return accept(null)
}

/** `change`: the text of what is to be done. Null: the approval of it is used up. */
export function useUpApproval(
  draft: Draft,
  use: ApprovalUse,
  change: string | undefined,
  time: number,
): Refused | null {
  const present = draft.get(approvalKeys.approval(use.approvalId))
  const isMeant =
    present !== undefined &&
    present.requestedBy.type === use.requestedBy.type &&
    present.requestedBy.id === use.requestedBy.id &&
    present.approvedBy === use.approvedBy &&
    present.change === change
  const fault = isMeant
    ? approvalFault(draft, present, time)
    : 'its approval was used, taken back or is for something else'
  if (fault !== null)
    return refuse('precondition_failed', `Cannot do this: ${fault}; ask again for a new approval`)
  drop(draft, [use.approvalId])
  return null
}

/** Those that have ended as well: their rows are removed when others are made. */
export function listOf(view: View): readonly ListedApproval[] {
  return view.get(approvalKeys.approvalList())?.approvals ?? []
}

function openApproval(view: View, approvalId: string, time: number): Accepted<ApprovalRecord> | Refused {
  const found = view.get(approvalKeys.approval(approvalId))
  if (found !== undefined && time < found.expiresAt) return accept(found)
  return refuse('not_found', `Approval "${approvalId}" does not exist: it was used, rejected or has expired`)
}

function isGood(token: AdminTokenRecord | undefined, time: number): token is AdminTokenRecord {
  if (token === undefined || token.revokedAt !== null) return false
  return token.expiresAt === null || time < token.expiresAt
}

/** A person who logs in again has another token: what it asked for stays what that person asked for. */
function userOf(view: View, { type, id }: Requester): Pick<ApprovalRecord, 'requestedByUser'> {
  if (type !== 'adminToken') return {}
  const userId = view.get(tenantKeys.adminToken(id))?.session?.user.id
  return userId === undefined ? {} : { requestedByUser: userId }
}

function countedAs(
  { type, id }: Requester,
  tenantId: string | null,
): Pick<ListedApproval, 'requester' | 'isOfKey'> {
  const isOfKey = type === 'accessKey'
  return { requester: isOfKey ? (tenantId ?? '') : id, isOfKey }
}

function roomFault(
  approvals: readonly ListedApproval[],
  { requester, isOfKey }: Pick<ListedApproval, 'requester' | 'isOfKey'>,
): Refused | null {
  const ofKeys = approvals.filter((one) => one.isOfKey)
  const ofRequester = approvals.filter((one) => one.isOfKey === isOfKey && one.requester === requester)
  const isFull =
    approvals.length >= APPROVALS_MAX ||
    (isOfKey && ofKeys.length >= APPROVALS_OF_KEYS_MAX) ||
    ofRequester.length >= APPROVALS_PER_REQUESTER_MAX
  if (!isFull) return null
  return refuse(
    'precondition_failed',
    `Cannot request approval: ${ofRequester.length} of this caller and ${approvals.length} in all wait or are not used yet; use, reject or let them expire`,
  )
}

/** The oldest first; some at a time, so that an entry stays small. */
function dropEnded(draft: Draft, time: number): void {
  const ended = listOf(draft).filter(({ expiresAt }) => time >= expiresAt)
  const ids = ended.slice(0, ENDED_APPROVALS_PER_STEP).map(({ approvalId }) => approvalId)
  if (ids.length > 0) drop(draft, ids)
}

function drop(draft: Draft, ids: readonly string[]): void {
  for (const id of ids) draft.remove(approvalKeys.approval(id))
  const approvals = listOf(draft).filter(({ approvalId }) => !ids.includes(approvalId))
  draft.put(approvalKeys.approvalList(), { approvals })
}
