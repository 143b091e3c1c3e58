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
  /** Made by the gateway, for the case that no config has this id yet. */
  readonly fresh: { readonly hookId: HookId; readonly secret: Uint8Array }
}

/** The result of one attempt. */
export interface AttemptResult extends DeliveryName {
  /** Number of attempts before this one: a result that is reported again does not count twice. */
  readonly attempts: number
  readonly verdict: 'taken' | 'failed' | 'gone'
  readonly status: number | null
  readonly error: string | null
  readonly durationMs: number
  /** The `Retry-After` of the receiver. */
  readonly retryAfterMs: number | null
  /** A random number of the delivering node, [-1, 1]. */
  readonly jitter: number
}

/** What a tenant may have, by the settings of the node that proposes. */
export interface ConfigBounds {
  /** Configs of all buckets. */
  readonly configsMax: number
  /** Of these, configs that lead to one origin. */
  readonly configsOfOriginMax: number
  /** The origin of each config of the command, in the same order: equal for all URLs that lead to one. */
  readonly origins: readonly string[]
}

export type NotificationCommand =
  /** All configs of the bucket; present ones that are not named are removed. */
  | {
      readonly type: 'setNotifications'
      readonly tenantId: TenantId
      readonly bucket: string
      readonly configs: readonly ConfigRequest[]
      /** Absent: configs that are new count nothing, and none is refused for their number. */
      readonly bounds?: ConfigBounds
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
  /** Deliveries of an open hook are forgotten only if they are settled. */
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
  /** How many results were not recorded before. */
  recordAttempts: { readonly recorded: number }
  forgetDeliveries: { readonly forgotten: number }
}
