/**
 * The usage of a tenant, with its first buckets.
 *
 * Owns: the answer. Knows nothing of: how the figures are counted. Rule: all of it is read from one cut, so that the figures fit
 * each other while they change.
 */
import { usageKeys } from '../../state-machine/usage/keys.ts'
import { eventKeys } from '../../state-machine/events/keys.ts'
import { tenantKeys } from '../../state-machine/tenants/keys.ts'
import { bucketRanges } from '../../state-machine/buckets/keys.ts'
import type { TenantId } from '../../state-machine/base/record-ids.ts'
import type { BucketRecord } from '../../state-machine/buckets/records.ts'
import type { UsageRecord } from '../../state-machine/usage/records.ts'
import { NO_USAGE } from '../../state-machine/usage/usage.ts'
import { atOneMoment } from './one-moment.ts'
import type { Page, StateReader } from './state-reader.ts'

/** All of one moment. */
export interface TenantUsage {
  readonly usage: UsageRecord
  readonly bucketCount: number
  /** Notification configs that count. */
  readonly notificationConfigs: number
  /** The first ones by name. */
  readonly buckets: Page<BucketRecord>
}

export function tenantUsage(reader: StateReader, tenant: TenantId, bucketsMax: number): Promise<TenantUsage> {
  return atOneMoment(reader, async (cut) => {
    const buckets = await cut.page(bucketRanges.buckets(tenant), { limit: bucketsMax })
    const usage = { ...NO_USAGE, ...cut.get(usageKeys.usage(tenant)) }
    const bucketCount = cut.get(tenantKeys.tenant(tenant))?.bucketCount ?? 0
    const notificationConfigs = cut.get(eventKeys.tenantHooks(tenant))?.hooks ?? 0
    return { usage, bucketCount, notificationConfigs, buckets }
  })
}
