/**
 * setTenantQuota: authorize -> find -> the request names a limit -> commit. It replaces the whole quota: a limit that is not named
 * is none. Below present use it is allowed: what is stored stays, and what adds to it is refused. [decisions 11]
 */
import { adminToken } from '../../access/rights.ts'
import { Refusal } from '../../base/refusal.ts'
import { settle } from '../../commands/settle.ts'
import { adminOperation } from '../base/operation.ts'
import { tenantTarget } from '../base/targets.ts'
import { findTenant } from './find-tenant.ts'
import type { TenantQuota } from './tenant-lookups.ts'

export interface QuotaRequest {
  readonly maxBytes?: number | null
  readonly maxObjects?: number | null
  readonly maxBuckets?: number | null
  readonly maxVersions?: number | null
  readonly maxUploads?: number | null
  readonly maxMetadataBytes?: number | null
}

const FURTHER = ['maxVersions', 'maxUploads', 'maxMetadataBytes'] as const

export const setTenantQuota = adminOperation(
  {
    id: 'setTenantQuota',
    requires: adminToken('operator', 'one-tenant'),
    refuses: ['precondition_failed'],
    target: tenantTarget,
  },
  async (services, principal, input: { readonly id: string } & QuotaRequest): Promise<TenantQuota> => {
    const { id, ...limits } = input
    const { maxBytes, maxObjects, maxBuckets } = limits
    const { id: tenantId } = findTenant(services, id)
    if (Object.values(limits).every((limit) => limit === undefined))
      throw new Refusal(
        'invalid_request',
        'Cannot set quota: name at least one of "maxBytes", "maxObjects", "maxBuckets", "maxVersions", "maxUploads" and "maxMetadataBytes", or clear the quota with DELETE',
      )
    const requested = {
      maxBytes: maxBytes ?? null,
      maxObjects: maxObjects ?? null,
      maxBuckets: maxBuckets ?? null,
      ...furtherLimits(limits),
    }
    return { tenantId, ...settle(await services.propose({ type: 'setQuota', tenantId, ...requested })) }
  },
)

/** Absent where there is none: nodes of older versions know no such members. */
function furtherLimits(request: QuotaRequest): Partial<Record<(typeof FURTHER)[number], number>> {
  const given = FURTHER.flatMap((name) => {
    const limit = request[name] ?? null
    return limit === null ? [] : [[name, limit] as const]
  })
  return Object.fromEntries(given)
}
