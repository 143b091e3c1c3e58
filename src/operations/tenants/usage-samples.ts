/**
 * The metrics of what tenants and their buckets store, where the settings ask for them.
 *
 * Knows nothing of: how they are served. Rules: labels are bounded, the first by id have a name and the rest is left out; every node
 * counts the same rows, so that a query takes the maximum of them.
 */
import { Condition, gauge, type MetricSample } from '../../../cluster/index.ts'
import type { BucketRecord } from '../../state-machine/buckets/records.ts'
import { bucketRanges } from '../../state-machine/buckets/keys.ts'
import { tenantRanges } from '../../state-machine/tenants/keys.ts'
import type { UsageRecord } from '../../state-machine/usage/records.ts'
import { usageOf } from '../../state-machine/usage/usage.ts'
import type { Services } from '../base/services.ts'

const TENANTS_NAMED_MAX = 200
/** Of all tenants together. */
const BUCKETS_NAMED_MAX = 500

const OF_TENANT = [
  ['holdfast_tenant_objects', 'Objects of a tenant, current versions only.', 'objects'],
  ['holdfast_tenant_versions', 'Versions of the objects of a tenant.', 'versions'],
  ['holdfast_tenant_logical_bytes', 'Bytes of all versions of a tenant.', 'logicalBytes'],
  [
    'holdfast_tenant_stored_bytes',
    'Bytes of the chunks of a tenant after sharing and compression, one copy of each.',
    'storedBytes',
  ],
  ['holdfast_tenant_upload_bytes', 'Bytes of the parts of unfinished uploads of a tenant.', 'uploadBytes'],
] as const satisfies readonly (readonly [string, string, keyof UsageRecord])[]

const OF_BUCKET = [
  ['holdfast_bucket_objects', 'Objects of a bucket, current versions only.', 'objectCount'],
  ['holdfast_bucket_versions', 'Versions of the objects of a bucket.', 'versionCount'],
  ['holdfast_bucket_logical_bytes', 'Bytes of all versions of a bucket.', 'logicalBytes'],
] as const satisfies readonly (readonly [string, string, keyof BucketRecord])[]

export interface UsageShown {
  readonly perTenant: boolean
  readonly perBucket: boolean
}

export async function usageSamples(
  state: Services['state'],
  { perTenant, perBucket }: UsageShown,
): Promise<readonly MetricSample[]> {
  if (!perTenant && !perBucket) return []
  try {
    const { items } = await state.page(tenantRanges.tenants(), { limit: TENANTS_NAMED_MAX })
    const tenants = items.map(({ id }) => id)
    const samples = perTenant
      ? tenants.flatMap((tenant) => tenantSamples(usageOf(state, tenant), tenant))
      : []
    return perBucket ? [...samples, ...(await bucketSamples(state, tenants))] : samples
  } catch (cause) {
    // The state is being replaced.
    if (cause instanceof Condition) return []
    throw cause
  }
}

const tenantSamples = (usage: UsageRecord, tenant: string): readonly MetricSample[] =>
  OF_TENANT.map(([name, help, member]) => gauge(name, help, usage[member], { tenant }))

async function bucketSamples(
  state: Services['state'],
  tenants: readonly BucketRecord['tenantId'][],
): Promise<readonly MetricSample[]> {
  const samples: MetricSample[] = []
  let left = BUCKETS_NAMED_MAX
  for (const tenant of tenants) {
    if (left === 0) break
    const { items } = await state.page(bucketRanges.buckets(tenant), { limit: left })
    left -= items.length
    for (const bucket of items)
      for (const [name, help, member] of OF_BUCKET)
        samples.push(gauge(name, help, bucket[member], { tenant, bucket: bucket.name }))
  }
  return samples
}
