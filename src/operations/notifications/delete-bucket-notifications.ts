/** deleteBucketNotifications: authorize -> exists -> commit. Clearing what is clear is no error. */
import { S3_ACTIONS } from '../../access/policies/s3-actions.ts'
import { accessKey } from '../../access/rights.ts'
import { settle } from '../../commands/settle.ts'
import { dataOperation } from '../base/operation.ts'
import { bucketTarget } from '../base/targets.ts'
import { findBucket } from '../buckets/find-bucket.ts'

export const deleteBucketNotifications = dataOperation(
  {
    id: 'deleteBucketNotifications',
    // Like setBucketNotifications: a caller that may not set configs may not remove those of others. [decisions 17]
    requires: accessKey(['write', 'read'], 'whole-bucket'),
    s3Action: S3_ACTIONS.putBucketNotification,
    refuses: [],
    target: bucketTarget,
  },
  async (services, principal, input: { readonly bucket: string }): Promise<void> => {
    const { tenantId, name: bucket } = findBucket(services, principal.tenantId, input.bucket)
    settle(await services.propose({ type: 'setNotifications', tenantId, bucket, configs: [] }))
  },
)
