/**
 * Finds the bucket that a command names, or refuses with `not_found`.
 *
 * Rule: a bucket that a restore fills belongs to the restore until it is whole or the restore has ended: no other command changes it.
 * [docs/adr/0094-restore-into-the-running-cluster.md]
 */
import { bucketKeys } from './keys.ts'
import type { View } from '../base/view.ts'
import type { TenantId } from '../base/record-ids.ts'
import { accept, type Accepted, notFound, type Refused, refuse } from '../base/reply.ts'
import type { BucketRecord } from './records.ts'

export function bucketOf(view: View, tenantId: TenantId, name: string): Accepted<BucketRecord> | Refused {
  const bucket = presentBucket(view, tenantId, name)
  if (!bucket.ok || bucket.value.restoring === undefined) return bucket
  return refuse(
    'invalid_bucket_state',
    `Bucket "${name}" is being restored by operation "${bucket.value.restoring}": wait for its end or cancel it`,
  )
}

/** Also one that a restore fills: for what has to work in each bucket. */
export function presentBucket(
  view: View,
  tenantId: TenantId,
  name: string,
): Accepted<BucketRecord> | Refused {
  const bucket = view.get(bucketKeys.bucket(tenantId, name))
  return bucket === undefined ? notFound('bucket', `Bucket "${name}" does not exist`) : accept(bucket)
}
