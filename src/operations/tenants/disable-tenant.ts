/**
 * disableTenant: authorize -> tenant exists -> reason -> commit. Its active access keys are revoked in the same entry.
 * Again changes nothing.
 */
import { adminToken } from '../../access/rights.ts'
import { settle } from '../../commands/settle.ts'
import type { TenantRecord } from '../../state-machine/tenants/records.ts'
import { adminOperation } from '../base/operation.ts'
import { givenReason } from '../base/reason.ts'
import { tenantTarget } from '../base/targets.ts'
import { findTenant } from './find-tenant.ts'

export const disableTenant = adminOperation(
  {
    id: 'disableTenant',
    requires: adminToken('owner', 'one-tenant'),
    refuses: [],
    target: tenantTarget,
  },
  async (
    services,
    principal,
    input: { readonly id: string; readonly reason: string },
  ): Promise<TenantRecord> => {
    const { id: tenantId } = findTenant(services, input.id)
    const reason = givenReason(input.reason, `disable tenant "${tenantId}"`)
    return settle(await services.propose({ type: 'disableTenant', tenantId, reason })).tenant
  },
)
