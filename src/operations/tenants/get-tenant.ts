/** getTenant: authorize -> find. A token of another tenant hears 403 whether or not the tenant exists. [admin: Authentication 4] */
import { authorize } from '../../access/authorize.ts'
import type { AdminTokenPrincipal } from '../../access/base/principal.ts'
import type { TenantRecord } from '../../state-machine/tenants/records.ts'
import type { Services } from '../base/services.ts'
import { findTenant } from './find-tenant.ts'

export async function getTenant(
  services: Services,
  principal: AdminTokenPrincipal,
  input: { readonly id: string },
): Promise<TenantRecord> {
  authorize(principal, 'getTenant', { tenantId: input.id })
  return findTenant(services, input.id)
}
