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

/** Of metadata a tenant may have this much, however small its quota is. */
const METADATA_BYTES_FREE = 64 * 1024
/** Key, content type, metadata and tags of an object, each at its own limit, fit into this. */
const METADATA_BYTES_OF_OBJECT = 16 * 1024
/** The largest number of bytes that answers can state: a quota of more objects than fit into it has no larger limit. */
const MAX_SAFE = Number.MAX_SAFE_INTEGER

export const NO_QUOTA: QuotaRecord = { maxBytes: null, maxObjects: null, maxBuckets: null, updatedAt: 0 }

export function quotaOf(view: View, tenantId: TenantId): QuotaRecord {
  return view.get(usageKeys.quota(tenantId)) ?? NO_QUOTA
}

/** The limits, and the usage that they apply to. */
export function quotaReport(view: View, tenantId: TenantId): QuotaReport {
  const buckets = view.get(tenantKeys.tenant(tenantId))?.bucketCount ?? 0
  const quota = quotaOf(view, tenantId)
  const metadataBytesMax = metadataBytesMaxOf(quota)
  return { quota, usage: { ...contentOf(view, tenantId), buckets }, metadataBytesMax }
}

function contentOf(view: View, tenantId: TenantId) {
  const usage = usageOf(view, tenantId)
  return {
    bytes: usage.logicalBytes + usage.uploadBytes,
    objects: usage.objects,
    versions: usage.versions + usage.deleteMarkers,
    uploads: usage.uploads,
    metadataBytes: usage.metadataBytes ?? 0,
  }
}

/**
 * The limit of metadata: the one that was given; otherwise as many bytes as data may have, or enough for the largest metadata of
 * as many objects as are allowed. Null: none, because neither bytes nor objects have a limit.
 */
function metadataBytesMaxOf({ maxBytes, maxObjects, maxMetadataBytes }: QuotaRecord): number | null {
  if (maxMetadataBytes !== undefined) return maxMetadataBytes
  if (maxBytes === null && maxObjects === null) return null
  const ofObjects = (maxObjects ?? 0) * METADATA_BYTES_OF_OBJECT
  return Math.min(MAX_SAFE, Math.max(METADATA_BYTES_FREE, maxBytes ?? 0, ofObjects))
}

/** What a change adds; negative: it removes more than it adds. */
interface Growth {
  readonly bytes?: number
  readonly objects?: number
  readonly versions?: number
  readonly uploads?: number
  readonly metadataBytes?: number | undefined
}

/** Null: the growth fits. A change that does not grow always fits. */
export function quotaFault(view: View, tenantId: TenantId, growth: Growth): Refused | null {
  const quota = quotaOf(view, tenantId)
  const { maxBytes, maxObjects } = quota
  const { bytes, objects, ...records } = contentOf(view, tenantId)
  const { bytes: more = 0, objects: moreObjects = 0 } = growth
  if (maxBytes !== null && more > 0 && bytes + more > maxBytes) {
    const message = `Tenant "${tenantId}" stores ${bytes} of at most ${maxBytes} bytes: ${more} more do not fit`
    return refuse('quota_exceeded', message)
  }
  if (maxObjects !== null && moreObjects > 0 && objects + moreObjects > maxObjects)
    return refuse('quota_exceeded', `Tenant "${tenantId}" stores ${objects} of at most ${maxObjects} objects`)
  return recordsFault({ tenantId, quota, records }, growth)
}

/** What is stored beside plain bytes. */
function recordsFault(
  {
    tenantId,
    quota,
    records,
  }: {
    readonly tenantId: TenantId
    readonly quota: QuotaRecord
    readonly records: Pick<QuotaReport['usage'], 'versions' | 'uploads' | 'metadataBytes'>
  },
  growth: Growth,
): Refused | null {
  const fault = (what: string, present: number, more = 0, max: number | null = null): Refused | null =>
    max !== null && more > 0 && present + more > max
      ? refuse(
          'quota_exceeded',
          `Tenant "${tenantId}" has ${present} of at most ${max} ${what}: ${more} more do not fit`,
        )
      : null
  return (
    fault('object versions and delete markers', records.versions, growth.versions, quota.maxVersions) ??
    fault('unfinished uploads', records.uploads, growth.uploads, quota.maxUploads) ??
    fault('bytes of metadata', records.metadataBytes, growth.metadataBytes, metadataBytesMaxOf(quota))
  )
}

/** The limits alone; those that are absent stay absent. */
export function limitsOf(of: Omit<QuotaRecord, 'updatedAt'>): Omit<QuotaRecord, 'updatedAt'> {
  const { maxBytes, maxObjects, maxBuckets, maxVersions, maxUploads, maxMetadataBytes } = of
  return {
    maxBytes,
    maxObjects,
    maxBuckets,
    ...(maxVersions === undefined ? {} : { maxVersions }),
    ...(maxUploads === undefined ? {} : { maxUploads }),
    ...(maxMetadataBytes === undefined ? {} : { maxMetadataBytes }),
  }
}

/** All members null: no limits, and no row. */
export function setQuota(
  draft: Draft,
  command: Extract<QuotaCommand, { type: 'setQuota' }>,
  context: ApplyContext,
): Accepted<QuotaReport> | Refused {
  const { tenantId } = command
  const tenant = tenantOf(draft, tenantId)
  if (!tenant.ok) return tenant
  const { status } = tenant.value
  if (status === 'deleting' || status === 'deleted')
    return refuse('precondition_failed', `Cannot set quota: tenant "${tenantId}" is ${status}`)
  const named = limitsOf(command)
  const limits = Object.values(named)
  if (limits.some((limit) => limit !== null && !(Number.isSafeInteger(limit) && limit >= 0)))
    return refuse('invalid_argument', 'Cannot set quota: a limit is not a whole number of zero or more')
  const quota = { ...named, updatedAt: context.time }
  if (limits.some((limit) => limit !== null)) draft.put(usageKeys.quota(tenantId), quota)
  else if (draft.get(usageKeys.quota(tenantId)) !== undefined) draft.remove(usageKeys.quota(tenantId))
  return accept(quotaReport(draft, tenantId))
}
