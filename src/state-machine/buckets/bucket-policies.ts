/**
 * Policies of buckets: at most one each, kept as the text that was accepted.
 *
 * Owns: the row. Knows nothing of: what a policy says; the gateway has read it. Rule: it goes with its bucket, and a bucket made
 * anew under the name begins without one.
 */
import { bucketKeys } from './keys.ts'
import type { ApplyContext } from '../base/view.ts'
import type { BucketCommand } from './commands.ts'
import { bucketOf } from './find-bucket.ts'
import { BUCKET_POLICY_BYTES_MAX, type BucketPolicyRecord } from './records.ts'
import type { Draft } from '../base/draft.ts'
import { type Accepted, accept, type Refused, refuse } from '../base/reply.ts'

export function setBucketPolicy(
  draft: Draft,
  command: Extract<BucketCommand, { type: 'setBucketPolicy' }>,
  context: ApplyContext,
): Accepted<BucketPolicyRecord> | Refused {
  const { tenantId, name, policy } = command
  const bucket = bucketOf(draft, tenantId, name)
  if (!bucket.ok) return bucket
  // A character has at least one byte: what is longer than this is certainly too large.
  if (policy.length > BUCKET_POLICY_BYTES_MAX)
    return refuse('invalid_request', `Cannot set policy: it has more than ${BUCKET_POLICY_BYTES_MAX} bytes`)
  const record = { policy, updatedAt: context.time }
  draft.put(bucketKeys.bucketPolicy(bucket.value.id), record)
  return accept(record)
}

/** Repeating it changes nothing. */
export function deleteBucketPolicy(
  draft: Draft,
  { tenantId, name }: Extract<BucketCommand, { type: 'deleteBucketPolicy' }>,
): Accepted<null> | Refused {
  const bucket = bucketOf(draft, tenantId, name)
  if (!bucket.ok) return bucket
  const key = bucketKeys.bucketPolicy(bucket.value.id)
  if (draft.get(key) !== undefined) draft.remove(key)
  return accept(null)
}
