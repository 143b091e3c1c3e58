/**
 * Bucket policies: at most one per bucket, kept as the text that was accepted.
 *
 * Owns: the row. Knows nothing of: the content of a policy; the gateway has checked it. Rule: a policy is removed with its bucket, and a
 * new bucket of the same name starts without one.
 */
import { bucketKeys } from './keys.ts'
import type { ApplyContext, View } from '../base/view.ts'
import type { TenantId } from '../base/record-ids.ts'
import { isKeyPart } from '../base/row-key.ts'
import type { BucketCommand } from './commands.ts'
import { countConfig } from './config-bytes.ts'
import { configBytes } from '../usage/record-bytes.ts'
import { bucketOf } from './find-bucket.ts'
import { BUCKET_POLICY_BYTES_MAX, type BucketPolicyRecord } from './records.ts'
import type { Draft } from '../base/draft.ts'
import { type Accepted, accept, type Refused, refuse } from '../base/reply.ts'

/** `bucket`: any name, also one that no bucket can have. Undefined: there is no such bucket, or it has no policy. */
export function bucketPolicyOf(
  view: View,
  tenantId: TenantId,
  bucket: string,
): BucketPolicyRecord | undefined {
  const found = isKeyPart(bucket) ? view.get(bucketKeys.bucket(tenantId, bucket)) : undefined
  return found === undefined ? undefined : view.get(bucketKeys.bucketPolicy(found.id))
}

export function setBucketPolicy(
  draft: Draft,
  command: Extract<BucketCommand, { type: 'setBucketPolicy' }>,
  context: ApplyContext,
): Accepted<BucketPolicyRecord> | Refused {
  const { tenantId, name, policy } = command
  const bucket = bucketOf(draft, tenantId, name)
  if (!bucket.ok) return bucket
  // A character has at least one byte, so a longer text is certainly too large.
  if (policy.length > BUCKET_POLICY_BYTES_MAX)
    return refuse('invalid_request', `Cannot set policy: it has more than ${BUCKET_POLICY_BYTES_MAX} bytes`)
  const record = { policy, updatedAt: context.time }
  draft.put(bucketKeys.bucketPolicy(bucket.value.id), record)
  // An operator sets it, so it counts and is not refused.
  countConfig(draft, bucket.value, 'policy', configBytes(context, policy))
  return accept(record)
}

/** Idempotent. */
export function deleteBucketPolicy(
  draft: Draft,
  { tenantId, name }: Extract<BucketCommand, { type: 'deleteBucketPolicy' }>,
): Accepted<null> | Refused {
  const bucket = bucketOf(draft, tenantId, name)
  if (!bucket.ok) return bucket
  const key = bucketKeys.bucketPolicy(bucket.value.id)
  if (draft.get(key) !== undefined) draft.remove(key)
  countConfig(draft, bucket.value, 'policy', 0)
  return accept(null)
}
