/**
 * What a delivery is called outside: `evt_<event>-<hook>`. It is the `webhook-id` of every attempt, so receivers know a
 * repeated one by it.
 *
 * Rule: a text of another form is never handed to the store.
 */
import type { DeliveryRecord } from '../../state-machine/events/records.ts'
import { isVersionId } from '../../state-machine/base/version-id.ts'

const DELIVERY_ID = /^evt_([0-9A-Z]{26})-([A-Z2-7]{16})$/

type DeliveryPlace = Pick<DeliveryRecord, 'eventId' | 'hookId'>

export function deliveryId({ eventId, hookId }: DeliveryPlace): string {
  return `evt_${eventId}-${hookId}`
}

/** Null: it is none. */
export function parseDeliveryId(text: string): DeliveryPlace | null {
  const [, eventId = '', hookId = ''] = DELIVERY_ID.exec(text) ?? []
  return isVersionId(eventId) ? { eventId, hookId } : null
}
