/** testNotification: authorize -> exists -> commit of an event of type `test`, which goes the way of all others. */
import { S3_ACTIONS } from '../../access/policies/s3-actions.ts'
import { accessKey } from '../../access/rights.ts'
import { settle } from '../../commands/settle.ts'
import { dataOperation } from '../base/operation.ts'
import { bucketTarget } from '../base/targets.ts'
import { findBucket } from '../buckets/find-bucket.ts'
import type { DescribedDelivery } from './delivery-view.ts'

export const testNotification = dataOperation(
  {
    id: 'testNotification',
    requires: accessKey('write', 'whole-bucket'),
    s3Action: S3_ACTIONS.putBucketNotification,
    refuses: ['invalid_bucket_state'],
    target: bucketTarget,
  },
  async (
    services,
    principal,
    input: { readonly bucket: string; readonly configId: string },
  ): Promise<DescribedDelivery> => {
    const { tenantId, name: bucket } = findBucket(services, principal.tenantId, input.bucket)
    const { configId } = input
    const delivery = settle(await services.propose({ type: 'testHook', tenantId, bucket, configId }))
    return { configId, delivery }
  },
)
