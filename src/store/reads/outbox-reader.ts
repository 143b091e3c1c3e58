/**
 * The part of the state reader that is about notifications: hooks, and deliveries by their queues.
 *
 * Owns: the questions. Rule: as of state-reader.ts; single hooks and configs are read through `view`.
 */
import type { BucketId } from '../../state-machine/base/record-ids.ts'
import type {
  DeliveryName,
  DeliveryRecord,
  HookRecord,
  OutboxTotalRecord,
} from '../../state-machine/events/records.ts'
import type { Page } from './state-reader.ts'

/** A hook, by the range that its rows lie in. */
export type HookName = Pick<HookRecord, 'bucketId' | 'hookId'>

export interface OutboxReader {
  /** Of all tenants, in the order of their rows. */
  hooks(after: string, limit: number): Promise<Page<HookRecord>>
  /** Those with something to deliver, now or later. */
  busyHooks(after: string, limit: number): Promise<Page<HookRecord>>
  /** What waits and is due at `before` or earlier, the earliest first. */
  due(hook: HookName, before: number, limit: number): Promise<readonly DeliveryRecord[]>
  /** What is delivered or dead, settled first comes first. */
  settled(hook: HookName, status: 'delivered' | 'dead', limit: number): Promise<readonly DeliveryRecord[]>
  delivery(name: DeliveryName): DeliveryRecord | undefined
  /** Of all hooks of a bucket, the newest first. */
  deliveries(bucket: BucketId, after: string, limit: number): Promise<Page<DeliveryRecord>>
  total(): OutboxTotalRecord
}
