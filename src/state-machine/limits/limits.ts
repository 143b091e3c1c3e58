/**
 * Limits that an operator sets for a tenant on the data plane.
 *
 * Owns: the row and which values it takes. Knows nothing of: what nodes do with it. Rule: a row has every member, so that a limit that
 * was not named follows the settings of each node.
 */
import { limitKeys } from './keys.ts'
import type { ApplyContext } from '../base/view.ts'
import type { Draft } from '../base/draft.ts'
import type { LimitsCommand } from './commands.ts'
import {
  BURST_SECONDS_MAX,
  LIMIT_MAX,
  LIMIT_WEIGHT_MAX,
  type ScopeLimits,
  type TenantLimitsRecord,
} from './records.ts'
import { type Accepted, accept, type Refused, refuse } from '../base/reply.ts'
import { tenantOf } from '../tenants/tenants.ts'

export function setTenantLimits(
  draft: Draft,
  { tenantId, limits }: LimitsCommand,
  context: ApplyContext,
): Accepted<TenantLimitsRecord | null> | Refused {
  const tenant = tenantOf(draft, tenantId)
  if (!tenant.ok) return tenant
  const { status } = tenant.value
  if (status === 'deleting' || status === 'deleted')
    return refuse('precondition_failed', `Cannot set limits: tenant "${tenantId}" is ${status}`)
  const key = limitKeys.limits(tenantId)
  if (limits === null) {
    if (draft.get(key) !== undefined) draft.remove(key)
    return accept(null)
  }
  const { tenant: ofTenant, accessKey, weight } = limits
  const isWhole = isCount(weight, LIMIT_WEIGHT_MAX) && weight > 0
  if (!isWhole || !isScope(ofTenant) || !isScope(accessKey))
    return refuse('invalid_argument', 'Cannot set limits: a value is not a whole number within its bounds')
  const record = { tenant: ofTenant, accessKey, weight, updatedAt: context.time }
  draft.put(key, record)
  return accept(record)
}

function isScope({ burstSeconds, ...limits }: ScopeLimits): boolean {
  if (burstSeconds !== null && (burstSeconds === 0 || !isCount(burstSeconds, BURST_SECONDS_MAX))) return false
  return Object.values(limits).every((limit: number | null) => limit === null || isCount(limit, LIMIT_MAX))
}

function isCount(value: number, max: number): boolean {
  return Number.isSafeInteger(value) && value >= 0 && value <= max
}
