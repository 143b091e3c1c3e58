/**
 * disableTenant: authorize -> tenant exists -> reason -> commit. Its active access keys are revoked in the same entry.
 * Again changes nothing.
 */
import { authorize } from '../../access/authorize.ts'
import type { AdminTokenPrincipal } from '../../access/base/principal.ts'
import type { TenantRecord } from '../../state-machine/tenants/records.ts'
import { givenReason } from '../base/reason.ts'
import type { Services } from '../base/services.ts'
import { settle } from '../../commands/settle.ts'
import { findTenant } from './find-tenant.ts'

export async function disableTenant(
  services: Services,
  principal: AdminTokenPrincipal,
  input: { readonly id: string; readonly reason: string },
): Promise<TenantRecord> {
  authorize(principal, 'disableTenant', { tenantId: input.id })
  const { id: tenantId } = findTenant(services, input.id)
  const reason = givenReason(input.reason, `disable tenant "${tenantId}"`)
  return settle(await services.propose({ type: 'disableTenant', tenantId, reason })).tenant
}
