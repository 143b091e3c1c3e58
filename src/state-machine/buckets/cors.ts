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
import type { View } from '../base/view.ts'
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
): Accepted<CorsRecord> | Refused {
  const tenant = activeTenant(draft, tenantId)
  if (!tenant.ok) return tenant
  const bucket = bucketOf(draft, tenantId, name)
  if (!bucket.ok) return bucket
  const cors = { rules }
  draft.put(bucketKeys.cors(bucket.value.id), cors)
  draft.put(bucketKeys.bucket(tenantId, name), { ...bucket.value, hasCors: true })
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
  }
  return accept(null)
}
