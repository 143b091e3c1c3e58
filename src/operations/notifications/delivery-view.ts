/** A delivery together with the config it belongs to, as answers need it. */
import { eventKeys } from '../../state-machine/events/keys.ts'
import { Refusal } from '../../base/refusal.ts'
import type { BucketId } from '../../state-machine/base/record-ids.ts'
import type { DeliveryRecord } from '../../state-machine/events/records.ts'
import type { Services } from '../base/services.ts'

export interface DescribedDelivery {
  readonly configId: string
  readonly delivery: DeliveryRecord
}

/** Throws Refusal not_found when its config went meanwhile. */
export function withConfig(
  services: Services,
  bucketId: BucketId,
  delivery: DeliveryRecord,
): DescribedDelivery {
  const hook = services.state.get(eventKeys.hook(bucketId, delivery.hookId))
  if (hook === undefined) throw new Refusal('not_found', 'The config of this delivery was removed')
  return { configId: hook.id, delivery }
}
