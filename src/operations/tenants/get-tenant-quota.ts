/** getTenantQuota: authorize -> find -> the limits beside what they are held against, of one moment. [decisions 11] */
import { authorize } from '../../access/authorize.ts'
import type { AdminTokenPrincipal } from '../../access/base/principal.ts'
import type { QuotaReport } from '../../state-machine/usage/records.ts'
import type { Services } from '../base/services.ts'
import { findTenant } from './find-tenant.ts'

export interface TenantQuota extends QuotaReport {
  readonly tenantId: string
}

export async function getTenantQuota(
  services: Services,
  principal: AdminTokenPrincipal,
  input: { readonly id: string },
): Promise<TenantQuota> {
  authorize(principal, 'getTenantQuota', { tenantId: input.id })
  const { id: tenantId } = findTenant(services, input.id)
  return { tenantId, ...services.state.quotaReport(tenantId) }
}
