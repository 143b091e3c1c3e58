/**
 * deleteTenant: authorize -> tenant exists -> reason -> confirm -> disabled, and nothing locked -> second approval, by setting -> commit. What
 * it stores is removed afterwards, step by step. Asked again it answers the operation that is under way, or that did it. [decisions 11]
 */
import { adminToken } from '../../access/rights.ts'
import { type Blocker, Refusal } from '../../base/refusal.ts'
import { newOperationId } from '../../commands/operation-id.ts'
import { settle } from '../../commands/settle.ts'
import type { LongOperation } from '../../state-machine/long-operations/records.ts'
import { deletionOf } from '../../state-machine/removal/tenant-end.ts'
import type { TenantRecord } from '../../state-machine/tenants/records.ts'
import { secondApproval } from '../approvals/second-approval.ts'
import { adminOperation } from '../base/operation.ts'
import { givenReason } from '../base/reason.ts'
import { tenantTarget } from '../base/targets.ts'
import { findTenant } from './find-tenant.ts'
import { type TenantLocks, tenantLocks } from './tenant-locks.ts'

export interface TenantDeletionInput {
  readonly id: string
  readonly reason: string
  /** Must be the id once more. */
  readonly confirm: string
}

export const deleteTenant = adminOperation(
  {
    id: 'deleteTenant',
    requires: adminToken('owner', 'one-tenant'),
    refuses: ['precondition_failed'],
    target: tenantTarget,
  },
  async (services, principal, input: TenantDeletionInput): Promise<LongOperation> => {
    const tenant = findTenant(services, input.id)
    const cannot = `Cannot delete tenant "${tenant.id}"`
    const reason = givenReason(input.reason, `delete tenant "${tenant.id}"`)
    if (input.confirm !== tenant.id)
      throw new Refusal('confirm_mismatch', `${cannot}: "confirm" has to be the id of the tenant once more`)
    const earlier = deletionOf(services.state, tenant)
    if (earlier !== null) return earlier
    const locks = await tenantLocks(services, tenant.id, services.cluster.time.status().confirmedTime)
    const blockers = blockersOf(tenant, locks)
    if (blockers.length > 0) {
      const why = blockers.map(({ message }) => message).join('; ')
      throw new Refusal('precondition_failed', `${cannot}: ${why}`, { blockers })
    }
    const command = {
      type: 'deleteTenant',
      tenantId: tenant.id,
      operationId: newOperationId(),
      requestedBy: principal.tokenId,
      reason,
      locksEndedBy: locks.endedBy,
    } as const
    const approval = await secondApproval(services, principal, 'delete_tenant', command)
    return settle(await services.propose({ ...command, ...approval }))
  },
)

/** All of them, so that an operator does not clear one away and then meet the next. */
function blockersOf(
  { status }: TenantRecord,
  { held, retained, earliestRelease }: TenantLocks,
): readonly Blocker[] {
  const blockers: Blocker[] = []
  if (status === 'active')
    blockers.push({ code: 'not_disabled', message: 'it is active and has to be disabled first' })
  if (status === 'deleted') blockers.push({ code: 'deleted', message: 'it is deleted already' })
  if (retained > 0)
    blockers.push({
      code: 'retention',
      message: `${retained} of its versions are under retention`,
      count: retained,
      earliestRelease: earliestRelease === null ? null : new Date(earliestRelease).toISOString(),
    })
  if (held > 0)
    blockers.push({
      code: 'legal_hold',
      message: `${held} of its versions are under legal hold`,
      count: held,
      earliestRelease: null,
    })
  return blockers
}
