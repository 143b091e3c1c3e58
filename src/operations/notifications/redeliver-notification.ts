/** redeliverNotification: authorize -> exists -> commit, which knows whether its config delivers now. */
import { S3_ACTIONS } from '../../access/policies/s3-actions.ts'
import { accessKey } from '../../access/rights.ts'
import { Refusal } from '../../base/refusal.ts'
import { settle } from '../../commands/settle.ts'
import { dataOperation } from '../base/operation.ts'
import { bucketTarget } from '../base/targets.ts'
import { findBucket } from '../buckets/find-bucket.ts'
import { parseDeliveryId } from './delivery-id.ts'
import { type DescribedDelivery, withConfig } from './delivery-view.ts'

export const redeliverNotification = dataOperation(
  {
    id: 'redeliverNotification',
    requires: accessKey('write', 'whole-bucket'),
    s3Action: S3_ACTIONS.putBucketNotification,
    refuses: ['invalid_bucket_state'],
    target: bucketTarget,
  },
  async (
    services,
    principal,
    input: { readonly bucket: string; readonly deliveryId: string },
  ): Promise<DescribedDelivery> => {
    const { id, tenantId, name: bucket } = findBucket(services, principal.tenantId, input.bucket)
    const named = parseDeliveryId(input.deliveryId)
    if (named === null)
      throw new Refusal('not_found', `The delivery "${input.deliveryId.slice(0, 80)}" does not exist`)
    return withConfig(
      services,
      id,
      settle(await services.propose({ type: 'redeliver', tenantId, bucket, ...named })),
    )
  },
)
