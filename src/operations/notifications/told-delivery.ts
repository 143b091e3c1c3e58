/** A delivery together with the config it belongs to, as answers need it. */
import { Refusal } from '../../refusal.ts'
import { keys } from '../../state-machine/keys.ts'
import type { BucketId, DeliveryRecord } from '../../state-machine/records.ts'
import type { Services } from '../services.ts'

export interface ToldDelivery {
  readonly configId: string
  readonly delivery: DeliveryRecord
}

/** Throws Refusal not_found when its config went meanwhile. */
export function withConfig(services: Services, bucketId: BucketId, delivery: DeliveryRecord): ToldDelivery {
  const hook = services.state.view.get(keys.hook(bucketId, delivery.hookId))
  if (hook === undefined) throw new Refusal('not_found', 'The config of this delivery was removed')
  return { configId: hook.id, delivery }
}
