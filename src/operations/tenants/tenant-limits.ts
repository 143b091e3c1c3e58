/**
 * The limits of a tenant on the data plane: authorize -> find -> the request names a limit -> commit. Setting replaces the whole: a limit
 * that is not named follows the settings of each node. Only a token of the whole cluster sets them, because they protect the other tenants.
 */
import { adminToken } from '../../access/rights.ts'
import { Refusal } from '../../base/refusal.ts'
import { settle } from '../../commands/settle.ts'
import type { LimitsReport } from '../../limits/limits.ts'
import { limitKeys } from '../../state-machine/limits/keys.ts'
import type { ScopeLimits, TenantLimitsRecord } from '../../state-machine/limits/records.ts'
import { adminOperation } from '../base/operation.ts'
import { tenantTarget } from '../base/targets.ts'
import { findTenant } from './find-tenant.ts'

export interface TenantLimits {
  readonly tenantId: string
  /** null: the settings of the nodes hold. */
  readonly record: TenantLimitsRecord | null
  /** As the answering node applies them, and what it knows of their use. */
  readonly report: LimitsReport
}

type ScopeRequest = { readonly [L in keyof ScopeLimits]?: number | null }

export interface LimitsRequest {
  readonly tenant?: ScopeRequest
  readonly accessKey?: ScopeRequest
  readonly weight?: number
}

export const getTenantLimits = adminOperation(
  {
    id: 'getTenantLimits',
    requires: adminToken('viewer', 'one-tenant'),
    refuses: [],
    target: tenantTarget,
  },
  async (services, principal, input: { readonly id: string }): Promise<TenantLimits> => {
    const { id: tenantId } = findTenant(services, input.id)
    const record = services.state.get(limitKeys.limits(tenantId)) ?? null
    return { tenantId, record, report: services.limits.reportOf(tenantId, record) }
  },
)

export const setTenantLimits = adminOperation(
  {
    id: 'setTenantLimits',
    requires: adminToken('operator', 'cluster'),
    refuses: ['precondition_failed'],
    target: tenantTarget,
  },
  async (services, principal, input: { readonly id: string } & LimitsRequest): Promise<TenantLimits> => {
    const { id, tenant, accessKey, weight } = input
    const { id: tenantId } = findTenant(services, id)
    if (tenant === undefined && accessKey === undefined && weight === undefined)
      throw new Refusal(
        'invalid_request',
        'Cannot set limits: name at least one of "tenant", "accessKey" and "weight", or clear the limits with DELETE',
      )
    const limits = { tenant: wholeScope(tenant), accessKey: wholeScope(accessKey), weight: weight ?? 1 }
    const record = settle(await services.propose({ type: 'setTenantLimits', tenantId, limits }))
    return { tenantId, record, report: services.limits.reportOf(tenantId, record) }
  },
)

/** Repeating it is safe. */
export const deleteTenantLimits = adminOperation(
  {
    id: 'deleteTenantLimits',
    requires: adminToken('operator', 'cluster'),
    refuses: ['precondition_failed'],
    target: tenantTarget,
  },
  async (services, principal, input: { readonly id: string }): Promise<null> => {
    const { id: tenantId } = findTenant(services, input.id)
    settle(await services.propose({ type: 'setTenantLimits', tenantId, limits: null }))
    return null
  },
)

function wholeScope(request: ScopeRequest = {}): ScopeLimits {
  return {
    requestsPerSecond: request.requestsPerSecond ?? null,
    bytesInPerSecond: request.bytesInPerSecond ?? null,
    bytesOutPerSecond: request.bytesOutPerSecond ?? null,
    burstSeconds: request.burstSeconds ?? null,
    requestsAtOnce: request.requestsAtOnce ?? null,
    uploadsAtOnce: request.uploadsAtOnce ?? null,
  }
}
