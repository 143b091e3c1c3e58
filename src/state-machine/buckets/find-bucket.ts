/**
 * Finds the bucket that a command names, or refuses with `not_found`.
 */
import { bucketKeys } from './keys.ts'
import type { View } from '../base/view.ts'
import type { TenantId } from '../base/record-ids.ts'
import { accept, type Accepted, notFound, type Refused } from '../base/reply.ts'
import type { BucketRecord } from './records.ts'

export function bucketOf(view: View, tenantId: TenantId, name: string): Accepted<BucketRecord> | Refused {
  const bucket = view.get(bucketKeys.bucket(tenantId, name))
  return bucket === undefined ? notFound('bucket', `Bucket "${name}" does not exist`) : accept(bucket)
}
