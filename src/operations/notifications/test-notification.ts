/** testNotification: authorize -> exists -> commit of an event of type `test`, which goes the way of all others. */
import { authorize } from '../../access/authorize.ts'
import type { AccessKeyPrincipal } from '../../access/base/principal.ts'
import { findBucket } from '../buckets/find-bucket.ts'
import type { Services } from '../base/services.ts'
import { settle } from '../../commands/settle.ts'
import type { DescribedDelivery } from './delivery-view.ts'

export async function testNotification(
  services: Services,
  principal: AccessKeyPrincipal,
  input: { readonly bucket: string; readonly configId: string },
): Promise<DescribedDelivery> {
  authorize(principal, 'testNotification', { bucket: input.bucket }, services.state)
  const { tenantId, name: bucket } = findBucket(services, principal.tenantId, input.bucket)
  const { configId } = input
  const delivery = settle(await services.propose({ type: 'testHook', tenantId, bucket, configId }))
  return { configId, delivery }
}
