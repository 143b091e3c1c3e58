/** deleteBucketLifecycle: authorize -> exists -> commit; that there were none is no error. */
import { S3_ACTIONS } from '../../access/policies/s3-actions.ts'
import { accessKey } from '../../access/rights.ts'
import { settle } from '../../commands/settle.ts'
import { dataOperation } from '../base/operation.ts'
import { bucketTarget } from '../base/targets.ts'
import { findBucket } from '../buckets/find-bucket.ts'

export const deleteBucketLifecycle = dataOperation(
  {
    id: 'deleteBucketLifecycle',
    requires: accessKey('admin', 'whole-bucket'),
    s3Action: S3_ACTIONS.putLifecycle,
    refuses: ['precondition_failed'],
    target: bucketTarget,
  },
  async (services, principal, input: { readonly bucket: string }): Promise<void> => {
    const { tenantId, name } = findBucket(services, principal.tenantId, input.bucket)
    settle(await services.propose({ type: 'deleteBucketLifecycle', tenantId, name }))
  },
)
