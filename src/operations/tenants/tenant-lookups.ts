/**
 * What is stored about a tenant, each answer read after: authorize -> exists. A token of another tenant is refused with 403
 * whether or not the tenant exists. [admin: Authentication 4]
 */
import { adminToken } from '../../access/rights.ts'
import type { TenantRecord } from '../../state-machine/tenants/records.ts'
import type { QuotaReport } from '../../state-machine/usage/records.ts'
import type { TenantUsage } from '../../store/reads/tenant-usage.ts'
import { adminOperation } from '../base/operation.ts'
import { tenantTarget } from '../base/targets.ts'
import { findTenant } from './find-tenant.ts'
import { tenantUsage } from '../../store/reads/tenant-usage.ts'
import { quotaReport } from '../../state-machine/usage/quota.ts'

export const getTenant = adminOperation(
  {
    id: 'getTenant',
    requires: adminToken('viewer', 'one-tenant'),
    refuses: [],
    target: tenantTarget,
  },
  async (services, principal, input: { readonly id: string }): Promise<TenantRecord> => {
    return findTenant(services, input.id)
  },
)

export interface TenantQuota extends QuotaReport {
  readonly tenantId: string
}

/** The limits beside the use that they bound, of one moment. [decisions 11] */
export const getTenantQuota = adminOperation(
  {
    id: 'getTenantQuota',
    requires: adminToken('viewer', 'one-tenant'),
    refuses: [],
    target: tenantTarget,
  },
  async (services, principal, input: { readonly id: string }): Promise<TenantQuota> => {
    const { id: tenantId } = findTenant(services, input.id)
    return { tenantId, ...services.state.cut((view) => quotaReport(view, tenantId)) }
  },
)

const BUCKETS_MAX = 1_000

export interface UsageReport extends TenantUsage {
  readonly tenantId: string
  readonly asOf: number
}

/** Figures of one moment, as they are counted in the entries that change them. [decisions 11] */
export const getTenantUsage = adminOperation(
  {
    id: 'getTenantUsage',
    requires: adminToken('viewer', 'one-tenant'),
    refuses: [],
    target: tenantTarget,
  },
  async (services, principal, input: { readonly id: string }): Promise<UsageReport> => {
    const { id: tenantId } = findTenant(services, input.id)
    return {
      tenantId,
      asOf: services.cluster.time.now(),
      ...(await tenantUsage(services.state, tenantId, BUCKETS_MAX)),
    }
  },
)
