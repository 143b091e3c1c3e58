/**
 * Quotas of tenants.
 *
 * Owns: the quota row and the decision. Rule: an entry is checked against the usage row that it changes, so a quota is exact
 * also under concurrent requests; data that exceeds a lowered quota stays.
 */
import { usageKeys } from './keys.ts'
import { tenantKeys } from '../tenants/keys.ts'
import type { ApplyContext, View } from '../base/view.ts'
import type { QuotaCommand } from './commands.ts'
import type { Draft } from '../base/draft.ts'
import type { TenantId } from '../base/record-ids.ts'
import type { QuotaRecord, QuotaReport } from './records.ts'
import { type Accepted, accept, type Refused, refuse } from '../base/reply.ts'
import { tenantOf } from '../tenants/tenants.ts'
import { usageOf } from './usage.ts'

export const NO_QUOTA: QuotaRecord = { maxBytes: null, maxObjects: null, maxBuckets: null, updatedAt: 0 }

export function quotaOf(view: View, tenantId: TenantId): QuotaRecord {
  return view.get(usageKeys.quota(tenantId)) ?? NO_QUOTA
}

/** The limits, and the usage that they apply to. */
export function quotaReport(view: View, tenantId: TenantId): QuotaReport {
  const buckets = view.get(tenantKeys.tenant(tenantId))?.bucketCount ?? 0
  return { quota: quotaOf(view, tenantId), usage: { ...contentOf(view, tenantId), buckets } }
}

function contentOf(view: View, tenantId: TenantId): { readonly bytes: number; readonly objects: number } {
  const { logicalBytes, uploadBytes, objects } = usageOf(view, tenantId)
  return { bytes: logicalBytes + uploadBytes, objects }
}

/** Null: the growth fits. A change that does not grow always fits. */
export function quotaFault(
  view: View,
  tenantId: TenantId,
  growth: { readonly bytes: number; readonly objects: number },
): Refused | null {
  const { maxBytes, maxObjects } = quotaOf(view, tenantId)
  const { bytes, objects } = contentOf(view, tenantId)
  if (maxBytes !== null && growth.bytes > 0 && bytes + growth.bytes > maxBytes) {
    const message = `Tenant "${tenantId}" stores ${bytes} of at most ${maxBytes} bytes: ${growth.bytes} more do not fit`
    return refuse('quota_exceeded', message)
  }
  if (maxObjects !== null && growth.objects > 0 && objects + growth.objects > maxObjects)
    return refuse('quota_exceeded', `Tenant "${tenantId}" stores ${objects} of at most ${maxObjects} objects`)
  return null
}

/** All members null: no limits, and no row. */
export function setQuota(
  draft: Draft,
  command: Extract<QuotaCommand, { type: 'setQuota' }>,
  context: ApplyContext,
): Accepted<QuotaReport> | Refused {
  const { tenantId, maxBytes, maxObjects, maxBuckets } = command
  const tenant = tenantOf(draft, tenantId)
  if (!tenant.ok) return tenant
  const { status } = tenant.value
  if (status === 'deleting' || status === 'deleted')
    return refuse('precondition_failed', `Cannot set quota: tenant "${tenantId}" is ${status}`)
  const limits = [maxBytes, maxObjects, maxBuckets]
  if (limits.some((limit) => limit !== null && !(Number.isSafeInteger(limit) && limit >= 0)))
    return refuse('invalid_argument', 'Cannot set quota: a limit is not a whole number of zero or more')
  const quota = { maxBytes, maxObjects, maxBuckets, updatedAt: context.time }
  if (limits.some((limit) => limit !== null)) draft.put(usageKeys.quota(tenantId), quota)
  else if (draft.get(usageKeys.quota(tenantId)) !== undefined) draft.remove(usageKeys.quota(tenantId))
  return accept(quotaReport(draft, tenantId))
}
