/** getTenantUsage: authorize -> find -> figures of one moment, as they are counted in the entries that change them. [decisions 11] */
import { authorize } from '../../access/authorize.ts'
import type { AdminTokenPrincipal } from '../../access/base/principal.ts'
import type { TenantUsage } from '../../store/reads/state-reader.ts'
import type { Services } from '../base/services.ts'
import { findTenant } from './find-tenant.ts'

const BUCKETS_MAX = 1_000

export interface UsageReport extends TenantUsage {
  readonly tenantId: string
  readonly asOf: number
}

export async function getTenantUsage(
  services: Services,
  principal: AdminTokenPrincipal,
  input: { readonly id: string },
): Promise<UsageReport> {
  authorize(principal, 'getTenantUsage', { tenantId: input.id })
  const { id: tenantId } = findTenant(services, input.id)
  return {
    tenantId,
    asOf: services.cluster.time.now(),
    ...(await services.state.tenantUsage(tenantId, BUCKETS_MAX)),
  }
}
