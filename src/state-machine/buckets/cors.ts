/**
 * The CORS rules of a bucket: one row, always replaced as a whole.
 *
 * Owns: the row, and `hasCors` in the row of the bucket. Knows nothing of: valid rules, and what rules allow; gateways
 * check rules before they propose them, and evaluate them.
 * Rule: both rows change in one entry, so the bucket's row shows that there are no rules without a read of the other row.
 */
import { bucketKeys } from './keys.ts'
import type { BucketCommand } from './commands.ts'
import { bucketOf } from './find-bucket.ts'
import type { BucketRecord, CorsRecord } from './records.ts'
import type { Draft } from '../base/draft.ts'
import type { ApplyContext, View } from '../base/view.ts'
import { quotaFault } from '../usage/quota.ts'
import { configBytes } from '../usage/record-bytes.ts'
import { configGrowth, countConfig } from './config-bytes.ts'
import { type Accepted, accept, type Refused } from '../base/reply.ts'
import { activeTenant } from '../tenants/tenants.ts'

/** A bucket without rules costs no read. */
export function corsOf(view: View, bucket: BucketRecord): CorsRecord | undefined {
  return bucket.hasCors ? view.get(bucketKeys.cors(bucket.id)) : undefined
}

/** Replaces all present rules. Idempotent. */
export function setBucketCors(
  draft: Draft,
  { tenantId, name, rules }: Extract<BucketCommand, { type: 'setBucketCors' }>,
  context: ApplyContext,
): Accepted<CorsRecord> | Refused {
  const tenant = activeTenant(draft, tenantId)
  if (!tenant.ok) return tenant
  const bucket = bucketOf(draft, tenantId, name)
  if (!bucket.ok) return bucket
  const cors = { rules }
  const bytes = configBytes(context, cors)
  const fault = quotaFault(draft, tenantId, { metadataBytes: configGrowth(bucket.value, 'cors', bytes) })
  if (fault !== null) return fault
  draft.put(bucketKeys.cors(bucket.value.id), cors)
  draft.put(bucketKeys.bucket(tenantId, name), { ...bucket.value, hasCors: true })
  countConfig(draft, bucket.value, 'cors', bytes)
  return accept(cors)
}

/** Idempotent: succeeds also if there are no rules. */
export function deleteBucketCors(
  draft: Draft,
  { tenantId, name }: Extract<BucketCommand, { type: 'deleteBucketCors' }>,
): Accepted<null> | Refused {
  const tenant = activeTenant(draft, tenantId)
  if (!tenant.ok) return tenant
  const bucket = bucketOf(draft, tenantId, name)
  if (!bucket.ok) return bucket
  const { hasCors, ...plain } = bucket.value
  if (hasCors) {
    draft.remove(bucketKeys.cors(bucket.value.id))
    draft.put(bucketKeys.bucket(tenantId, name), plain)
    countConfig(draft, bucket.value, 'cors', 0)
  }
  return accept(null)
}
