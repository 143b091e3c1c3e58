/** getBucketLifecycle: authorize -> exists -> the rules; without rules it is not_found. */
import { S3_ACTIONS } from '../../access/policies/s3-actions.ts'
import { accessKey } from '../../access/rights.ts'
import { Refusal } from '../../base/refusal.ts'
import type { BucketRecord } from '../../state-machine/buckets/records.ts'
import type { LifecycleRecord } from '../../state-machine/lifecycle/records.ts'
import { lifecycleOf } from '../../state-machine/lifecycle/rules.ts'
import { dataOperation } from '../base/operation.ts'
import type { Services } from '../base/services.ts'
import { bucketTarget } from '../base/targets.ts'
import { findBucket } from '../buckets/find-bucket.ts'

export const getBucketLifecycle = dataOperation(
  {
    id: 'getBucketLifecycle',
    requires: accessKey('admin', 'whole-bucket'),
    s3Action: S3_ACTIONS.getLifecycle,
    refuses: [],
    target: bucketTarget,
  },
  async (services, principal, input: { readonly bucket: string }): Promise<LifecycleRecord> =>
    storedRules(services, findBucket(services, principal.tenantId, input.bucket)),
)

/** Throws Refusal not_found. */
export function storedRules({ state }: Services, bucket: BucketRecord): LifecycleRecord {
  const record = lifecycleOf(state, bucket)
  if (record !== undefined) return record
  throw new Refusal('not_found', `Bucket "${bucket.name}" has no lifecycle rules`, {
    missing: 'lifecycleRules',
  })
}
