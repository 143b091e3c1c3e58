/** getBucketNotifications: authorize -> exists -> its configs, none when there are none. [native: Notification configuration] */
import { S3_ACTIONS } from '../../access/policies/s3-actions.ts'
import { accessKey } from '../../access/rights.ts'
import { hooksOf } from '../../state-machine/events/hooks.ts'
import type { HookRecord } from '../../state-machine/events/records.ts'
import { dataOperation } from '../base/operation.ts'
import { bucketTarget } from '../base/targets.ts'
import { findBucket } from '../buckets/find-bucket.ts'

export const getBucketNotifications = dataOperation(
  {
    id: 'getBucketNotifications',
    requires: accessKey('read', 'bucket'),
    s3Action: S3_ACTIONS.getBucketNotification,
    refuses: [],
    target: bucketTarget,
  },
  async (services, principal, input: { readonly bucket: string }): Promise<readonly HookRecord[]> => {
    return hooksOf(services.state, findBucket(services, principal.tenantId, input.bucket))
  },
)
