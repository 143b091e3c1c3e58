/**
 * The CORS rules of a bucket: one row, written whole.
 *
 * Owns: the row and the word of the bucket's row that it is there. Knows nothing of: what a good rule is, and what rules
 * allow; gateways check them before they propose, and decide by them.
 * Rule: both rows change in one entry, so that a bucket without rules can be told without a look at the other.
 */
import { bucketKeys } from './keys.ts'
import type { BucketCommand } from './commands.ts'
import { bucketOf } from './find-bucket.ts'
import type { CorsRecord } from './records.ts'
import type { Draft } from '../base/draft.ts'
import { type Accepted, accept, type Refused } from '../base/reply.ts'
import { activeTenant } from '../tenants/tenants.ts'

/** Replaces all rules that there were. Idempotent. */
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

/** No rules to remove is no error. */
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
