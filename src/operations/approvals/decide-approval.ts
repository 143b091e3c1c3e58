/**
 * The answers to a request for approval: authorize -> exists -> reason -> commit, which refuses the approval by the one who asked.
 */
import { adminToken } from '../../access/rights.ts'
import { settle } from '../../commands/settle.ts'
import type { ApprovalRecord } from '../../state-machine/approvals/records.ts'
import { adminOperation } from '../base/operation.ts'
import { givenReason } from '../base/reason.ts'
import { noTarget } from '../base/targets.ts'
import { findApproval } from './approval-lookups.ts'

interface Decision {
  readonly id: string
  readonly reason: string
}

export const approveChange = adminOperation(
  {
    id: 'approveChange',
    requires: adminToken('owner', 'own-tenants'),
    refuses: [],
    target: noTarget,
  },
  async (services, principal, input: Decision): Promise<ApprovalRecord> => {
    const { approvalId } = findApproval(services, principal, input.id)
    givenReason(input.reason, `approve "${approvalId}"`)
    const approvedBy = principal.tokenId
    return settle(await services.propose({ type: 'approveChange', approvalId, approvedBy }))
  },
)

/** The one who asked may take the request back. */
export const rejectChange = adminOperation(
  {
    id: 'rejectChange',
    requires: adminToken('owner', 'own-tenants'),
    refuses: [],
    target: noTarget,
  },
  async (services, principal, input: Decision): Promise<ApprovalRecord> => {
    const { approvalId } = findApproval(services, principal, input.id)
    givenReason(input.reason, `reject "${approvalId}"`)
    return settle(await services.propose({ type: 'rejectChange', approvalId }))
  },
)
