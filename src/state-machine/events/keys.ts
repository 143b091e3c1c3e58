/**
 * Row keys of events, and the ranges that listings read.
 */
import type {
  DeliveryName,
  DeliveryRecord,
  HookCountRecord,
  HookRecord,
  NotificationsRecord,
  OutboxRecord,
  OutboxTotalRecord,
} from './records.ts'
import { descending, hex, INDEX_DIGITS, join, type KeyRange, rangeOf, type RowKey } from '../base/row-key.ts'
import type { BucketId, HookId, TenantId } from '../base/record-ids.ts'

export const eventKeys = {
  notifications: (bucket: BucketId): RowKey<NotificationsRecord> => join('in', bucket, 'notifications'),
  /** Newest first. */
  delivery: ({ bucketId, eventId, hookId }: DeliveryName): RowKey<DeliveryRecord> =>
    join('in', bucketId, 'delivery', descending(eventId), hookId),
  due: ({ bucketId, hookId, eventId }: DeliveryName, at: number): RowKey<DeliveryName> =>
    join('in', bucketId, 'due', hookId, hex(at, INDEX_DIGITS), eventId),
  settled: (
    { bucketId, hookId, eventId }: DeliveryName,
    status: 'delivered' | 'dead',
    at: number,
  ): RowKey<DeliveryName> => join('in', bucketId, 'settled', hookId, status, hex(at, INDEX_DIGITS), eventId),
  hook: (bucket: BucketId, id: HookId): RowKey<HookRecord> => join('hook', bucket, id),
  busyHook: (
    bucket: BucketId,
    id: HookId,
  ): RowKey<{ readonly bucketId: BucketId; readonly hookId: HookId }> => join('busyHook', bucket, id),
  tenantHooks: (tenant: TenantId): RowKey<HookCountRecord> => join('tenantHooks', tenant),
  originHooks: (tenant: TenantId, origin: string): RowKey<HookCountRecord> =>
    join('originHooks', tenant, origin),
  outbox: (tenant: TenantId): RowKey<OutboxRecord> => join('outbox', tenant),
  outboxTotal: (): RowKey<OutboxTotalRecord> => join('outboxTotal'),
} as const

export const eventRanges = {
  deliveries: (bucket: BucketId): KeyRange<DeliveryRecord> => rangeOf('in', bucket, 'delivery'),
  /** Deliveries of one hook that are due at `before` or earlier. */
  due: (bucket: BucketId, hook: HookId, before: number): KeyRange<DeliveryName> => ({
    start: rangeOf('in', bucket, 'due', hook).start,
    end: eventKeys.due({ bucketId: bucket, hookId: hook, eventId: '' }, before + 1),
  }),
  /** Settled deliveries of one hook, oldest first. */
  settled: (bucket: BucketId, hook: HookId, status: 'delivered' | 'dead'): KeyRange<DeliveryName> =>
    rangeOf('in', bucket, 'settled', hook, status),
  hooks: (): KeyRange<HookRecord> => rangeOf('hook'),
  busyHooks: (): KeyRange<{ readonly bucketId: BucketId; readonly hookId: HookId }> => rangeOf('busyHook'),
} as const

/** The position of a delivery inside `eventRanges.deliveries`, for paging. */
export function deliveryPosition(name: DeliveryName): string {
  return eventKeys.delivery(name).slice(eventRanges.deliveries(name.bucketId).start.length)
}
