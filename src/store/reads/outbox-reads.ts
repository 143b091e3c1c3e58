/**
 * Hooks and deliveries by their queues.
 *
 * Owns: following an index row to its record. Rule: an index page and its records are read one after the other, so a record that
 * went or moved in between is left out; a caller never gets one twice.
 */
import type { KeyRange } from '../../state-machine/base/row-key.ts'
import { isBusy } from '../../state-machine/events/hooks.ts'
import { eventKeys, eventRanges } from '../../state-machine/events/keys.ts'
import type {
  DeliveryName,
  DeliveryRecord,
  DeliveryStatus,
  HookRecord,
} from '../../state-machine/events/records.ts'
import type { Page, PageQuery, RowReader } from './state-reader.ts'

/** A hook, by the range that its rows lie in. */
export type HookName = Pick<HookRecord, 'bucketId' | 'hookId'>

/** Those with something to deliver, now or later. */
export async function busyHooks(state: RowReader, query: PageQuery): Promise<Page<HookRecord>> {
  const { items, next } = await state.page(eventRanges.busyHooks(), query)
  const hooks = items.map(({ bucketId, hookId }) => state.get(eventKeys.hook(bucketId, hookId)))
  return { items: hooks.filter((hook) => hook !== undefined).filter(isBusy), next }
}

/** Pending deliveries that are due at `before` or earlier, the earliest first. */
export function dueDeliveries(
  state: RowReader,
  { bucketId, hookId }: HookName,
  before: number,
  limit: number,
): Promise<readonly DeliveryRecord[]> {
  return indexed(state, eventRanges.due(bucketId, hookId, before), 'pending', limit)
}

/** Deliveries that are delivered or dead, the one that was settled first first. */
export function settledDeliveries(
  state: RowReader,
  { bucketId, hookId }: HookName,
  status: 'delivered' | 'dead',
  limit: number,
): Promise<readonly DeliveryRecord[]> {
  return indexed(state, eventRanges.settled(bucketId, hookId, status), status, limit)
}

async function indexed(
  state: RowReader,
  all: KeyRange<DeliveryName>,
  status: DeliveryStatus,
  limit: number,
): Promise<readonly DeliveryRecord[]> {
  const { items } = await state.page(all, { limit })
  return items
    .map((name) => state.get(eventKeys.delivery(name)))
    .filter((delivery) => delivery?.status === status) as readonly DeliveryRecord[]
}
