/**
 * What a tenant takes up, with its first buckets.
 *
 * Owns: the answer. Knows nothing of: how the figures are counted. Rule: all of it is read from one cut, so that the figures fit
 * each other also while they change.
 */
import { usageKeys } from '../../state-machine/usage/keys.ts'
import { tenantKeys } from '../../state-machine/tenants/keys.ts'
import { bucketRanges } from '../../state-machine/buckets/keys.ts'
import type { TenantId } from '../../state-machine/base/record-ids.ts'
import { NO_USAGE } from '../../state-machine/usage/usage.ts'
import { cutView } from '../rows/cut-view.ts'
import type { OpenState } from '../rows/open-state.ts'
import { readPage } from './row-page.ts'
import type { TenantUsage } from './state-reader.ts'

export async function tenantUsage(
  state: OpenState,
  tenant: TenantId,
  bucketsMax: number,
): Promise<TenantUsage> {
  const snapshot = state.db.snapshot()
  try {
    const view = cutView(state.db, snapshot)
    const all = bucketRanges.buckets(tenant)
    const buckets = await readPage(state, { all, limit: bucketsMax, snapshot })
    const usage = { ...NO_USAGE, ...view.get(usageKeys.usage(tenant)) }
    return { usage, bucketCount: view.get(tenantKeys.tenant(tenant))?.bucketCount ?? 0, buckets }
  } finally {
    await snapshot.close()
  }
}
