/** redeliverNotification: authorize -> exists -> commit, which knows whether its config delivers now. */
import { authorize } from '../../access/authorize.ts'
import type { AccessKeyPrincipal } from '../../access/base/principal.ts'
import { Refusal } from '../../base/refusal.ts'
import { findBucket } from '../buckets/find-bucket.ts'
import type { Services } from '../base/services.ts'
import { settle } from '../../commands/settle.ts'
import { parseDeliveryId } from './delivery-id.ts'
import { type DescribedDelivery, withConfig } from './delivery-view.ts'

export async function redeliverNotification(
  services: Services,
  principal: AccessKeyPrincipal,
  input: { readonly bucket: string; readonly deliveryId: string },
): Promise<DescribedDelivery> {
  authorize(principal, 'redeliverNotification', { bucket: input.bucket }, services.state)
  const { id, tenantId, name: bucket } = findBucket(services, principal.tenantId, input.bucket)
  const named = parseDeliveryId(input.deliveryId)
  if (named === null)
    throw new Refusal('not_found', `The delivery "${input.deliveryId.slice(0, 80)}" does not exist`)
  return withConfig(
    services,
    id,
    settle(await services.propose({ type: 'redeliver', tenantId, bucket, ...named })),
  )
}
