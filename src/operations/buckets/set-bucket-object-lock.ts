/**
 * setBucketObjectLock: authorize -> exists -> the default does not lock too far ahead -> commit, which knows whether versions are kept.
 *
 * Rules: a default retention is bounded like any other, so that no caller locks longer than an operator allows; it needs
 * the verb admin, because what it does to new versions cannot be undone. [docs/adr/0053-default-retention.md]
 */
import { S3_ACTIONS } from '../../access/policies/s3-actions.ts'
import { accessKey } from '../../access/rights.ts'
import { settle } from '../../commands/settle.ts'
import type { BucketRecord, DefaultRetention } from '../../state-machine/buckets/records.ts'
import { dataOperation } from '../base/operation.ts'
import { checkDefaultRetention } from '../base/retention-bound.ts'
import { bucketTarget } from '../base/targets.ts'
import { findBucket } from './find-bucket.ts'

interface SetObjectLockInput {
  readonly bucket: string
  /** null: new versions get no retention of their own accord. */
  readonly defaultRetention: DefaultRetention | null
}

export const setBucketObjectLock = dataOperation(
  {
    id: 'setBucketObjectLock',
    requires: accessKey('admin', 'whole-bucket'),
    s3Action: S3_ACTIONS.putBucketObjectLock,
    refuses: ['invalid_bucket_state'],
    target: bucketTarget,
  },
  async (services, principal, input: SetObjectLockInput): Promise<BucketRecord> => {
    const { tenantId, name } = findBucket(services, principal.tenantId, input.bucket)
    const { defaultRetention } = input
    if (defaultRetention !== null) checkDefaultRetention(services, defaultRetention)
    return settle(await services.propose({ type: 'setBucketObjectLock', tenantId, name, defaultRetention }))
  },
)
