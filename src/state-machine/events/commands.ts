/**
 * Commands about notifications and their deliveries, and their replies.
 */
import type { BucketId, HookId, TenantId, VersionId } from '../base/record-ids.ts'
import type { DeliveryName, DeliveryRecord, EventType, HookRecord, PayloadFormat } from './records.ts'

export interface ConfigRequest {
  readonly id: string
  readonly url: string
  readonly events: readonly EventType[]
  readonly prefix: string
  readonly suffix: string
  readonly enabled: boolean
  readonly payloadFormat: PayloadFormat
  /** For the case that there is no config of this id yet: drawn by the gateway. */
  readonly fresh: { readonly hookId: HookId; readonly secret: Uint8Array }
}

/** What came of one attempt. */
export interface AttemptResult extends DeliveryName {
  /** How many there had been before it: a result that was told already counts no second time. */
  readonly attempts: number
  readonly verdict: 'taken' | 'failed' | 'gone'
  readonly status: number | null
  readonly error: string | null
  readonly durationMs: number
  /** Asked for by the receiver. */
  readonly retryAfterMs: number | null
  /** Drawn by whoever delivers: [-1, 1]. */
  readonly jitter: number
}

export type NotificationCommand =
  /** All configs of the bucket; those that are not named are removed. */
  | {
      readonly type: 'setNotifications'
      readonly tenantId: TenantId
      readonly bucket: string
      readonly configs: readonly ConfigRequest[]
    }
  | {
      readonly type: 'testHook'
      readonly tenantId: TenantId
      readonly bucket: string
      readonly configId: string
    }
  | {
      readonly type: 'redeliver'
      readonly tenantId: TenantId
      readonly bucket: string
      readonly hookId: HookId
      readonly eventId: VersionId
    }
  | { readonly type: 'recordAttempts'; readonly results: readonly AttemptResult[] }
  /** Those of an open hook only if they are settled. */
  | {
      readonly type: 'forgetDeliveries'
      readonly bucketId: BucketId
      readonly hookId: HookId
      readonly eventIds: readonly VersionId[]
    }

export interface NotificationReplies {
  /** In the order of the request. `fresh`: made by this command. */
  setNotifications: readonly { readonly hook: HookRecord; readonly isFresh: boolean }[]
  testHook: DeliveryRecord
  redeliver: DeliveryRecord
  /** How many of them were news. */
  recordAttempts: { readonly recorded: number }
  forgetDeliveries: { readonly forgotten: number }
}
