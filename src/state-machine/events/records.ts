/**
 * The records of notifications: which hooks get which events of a bucket, and the state of each delivery.
 *
 * Owns: the shapes and their bounds.
 * Rule: a bound that apply decides by is here, because it must be the same on every node.
 */
import type { Actor } from '../base/origin.ts'
import type { BucketId, HookId, TenantId, VersionId } from '../base/record-ids.ts'

export const EVENT_TYPES = [
  'object-created',
  'object-removed',
  'object-tagged',
  'object-lock-changed',
] as const
export type EventType = (typeof EVENT_TYPES)[number]

export const HOOKS_MAX = 100
/** Pending and dead rows of one config at most. Further events are dropped and counted: a write is never refused for that. */
export const HOOK_ROWS_MAX = 100_000
/** Rows of all states of one tenant at most. */
export const TENANT_ROWS_MAX = 500_000
/** One entry should make fewer rows than this; batches are cut accordingly. */
export const DELIVERIES_PER_ENTRY = 4096

/** The part of a config that every change in its bucket reads. */
export interface Subscription {
  /** The id that the caller has given to the config. */
  readonly id: string
  readonly hookId: HookId
  readonly events: readonly EventType[]
  readonly prefix: string
  readonly suffix: string
}

/** Present exactly while the bucket has `hasNotifications`. */
export interface NotificationsRecord {
  readonly subscriptions: readonly Subscription[]
}

export type PayloadFormat = 'native' | 's3'

/** `suspended`: only failures for too long. `gone`: the receiver answered 410. */
export interface HookStop {
  readonly kind: 'suspended' | 'gone'
  readonly reason: string
  readonly at: number
}

/** One config, from the entry that made it to the one that removes its last delivery. A config that is removed and set again is another hook. */
export interface HookRecord extends Subscription {
  readonly tenantId: TenantId
  readonly bucketId: BucketId
  /** The name of the bucket. */
  readonly bucket: string
  readonly url: string
  readonly payloadFormat: PayloadFormat
  /** Set by its owner. */
  readonly enabled: boolean
  /** The signing secret, sealed under the master key; empty once the hook is removed. */
  readonly secret: Uint8Array
  readonly createdAt: number
  readonly updatedAt: number
  /**
   * `draining`: its bucket is gone, and its pending deliveries are still made. `removed`: nothing is delivered any more, and its
   * rows are removed step by step.
   */
  readonly state: 'open' | 'draining' | 'removed'
  readonly stop: HookStop | null
  /** Number of rows by status, exact. */
  readonly pending: number
  readonly dead: number
  readonly delivered: number
  /** Number of events dropped because the outbox was full, and the time of the last one. */
  readonly dropped: number
  readonly droppedAt: number | null
  /** Attempts since the last success, and the time of the first of them. */
  readonly failures: number
  readonly failingSince: number | null
  /** The receiver requested no attempt before this time. */
  readonly notBefore: number
  /** While the hook is open it counts as a config of its tenant and of this origin. Absent: it counts nothing, it was last set below feature level 4. */
  readonly countedOrigin?: string
}

export interface Attempt {
  /** When its result was committed. */
  readonly at: number
  /** HTTP status of the response; null: none came. */
  readonly status: number | null
  /** A short text; null: the receiver accepted the delivery. */
  readonly error: string | null
  readonly durationMs: number
}

export type DeliveryStatus = 'pending' | 'delivered' | 'dead'

/** One event for one hook: everything that the payload needs, and the state of its delivery. */
export interface DeliveryRecord {
  /** Position of the event in the log, in the form of a version id. */
  readonly eventId: VersionId
  readonly hookId: HookId
  readonly type: EventType | 'test'
  /** The event name of S3. */
  readonly eventName: string
  readonly time: number
  /** Null: a test event. */
  readonly key: string | null
  /** The version id that clients use. */
  readonly versionId: string | null
  /** Null without a body, for example for a delete marker. */
  readonly size: number | null
  readonly etag: string | null
  readonly contentType: string | null
  readonly actor: Actor
  readonly requestId: string | null
  readonly sourceIp: string | null
  readonly status: DeliveryStatus
  /** Attempts since the event or its last redelivery. */
  readonly attempts: number
  /** While pending: no attempt before this time. */
  readonly dueAt: number
  /** Null while pending. */
  readonly settledAt: number | null
  readonly lastAttempt: Attempt | null
}

/** Index: exactly one row for each delivery, either `due` or `settled`. */
export interface DeliveryName {
  readonly bucketId: BucketId
  readonly hookId: HookId
  readonly eventId: VersionId
}

/** Number of open hooks that count: of one tenant, or of one tenant and origin. Never 0: the row is absent then. */
export interface HookCountRecord {
  readonly hooks: number
}

/** Number of delivery rows of one tenant. */
export interface OutboxRecord {
  readonly rows: number
}

/** Counts over all tenants. */
export interface OutboxTotalRecord {
  readonly pending: number
  readonly dead: number
  readonly delivered: number
  /** Never decreases. */
  readonly dropped: number
}
