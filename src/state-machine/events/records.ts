/**
 * The records of notifications: what a bucket announces to whom, and what has become of each announcement.
 *
 * Owns: the shapes and their bounds; records.ts says what holds for all of them.
 * Rule: a bound that decides what apply does stands here, because it must be the same on every node.
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
/** Rows that wait or are dead, of one config. What comes beyond is dropped and counted: a write is never refused for it. */
export const HOOK_ROWS_MAX = 100_000
/** Rows of all kinds, of one tenant. */
export const TENANT_ROWS_MAX = 500_000
/** Rows that one entry makes should stay below this; batches are cut accordingly. */
export const DELIVERIES_PER_ENTRY = 4096

/** What of a config is asked at every change in its bucket. */
export interface Subscription {
  /** The caller's name for it. */
  readonly id: string
  readonly hookId: HookId
  readonly events: readonly EventType[]
  readonly prefix: string
  readonly suffix: string
}

/** Present exactly while the bucket says `hasNotifications`. */
export interface NotificationsRecord {
  readonly subscriptions: readonly Subscription[]
}

export type PayloadFormat = 'native' | 's3'

/** `suspended`: nothing but failures for too long. `gone`: the receiver said that it is gone for good. */
export interface HookStop {
  readonly kind: 'suspended' | 'gone'
  readonly reason: string
  readonly at: number
}

/** One config, from the entry that made it to the one that forgets its last row. A config made anew is another hook. */
export interface HookRecord extends Subscription {
  readonly tenantId: TenantId
  readonly bucketId: BucketId
  /** The name of the bucket. */
  readonly bucket: string
  readonly url: string
  readonly payloadFormat: PayloadFormat
  /** As its owner wants it. */
  readonly enabled: boolean
  /** The signing secret, sealed under the master key; empty once the hook is removed. */
  readonly secret: Uint8Array
  readonly createdAt: number
  readonly updatedAt: number
  /**
   * `draining`: its bucket is gone, what it owes is still delivered. `removed`: nothing is delivered any more, its rows are
   * forgotten step by step.
   */
  readonly state: 'open' | 'draining' | 'removed'
  readonly stop: HookStop | null
  /** Rows by their status, exact. */
  readonly pending: number
  readonly dead: number
  readonly delivered: number
  /** Events for which there was no room, and when the last of them was. */
  readonly dropped: number
  readonly droppedAt: number | null
  /** Attempts since the last success, and when the first of them was. */
  readonly failures: number
  readonly failingSince: number | null
  /** The receiver asked for no attempt before. */
  readonly notBefore: number
}

export interface Attempt {
  /** When its result was committed. */
  readonly at: number
  /** Of the answer; null: there was none. */
  readonly status: number | null
  /** A few words; null: it was taken. */
  readonly error: string | null
  readonly durationMs: number
}

export type DeliveryStatus = 'pending' | 'delivered' | 'dead'

/** One event for one hook: all that the payload needs, and how far it has come. */
export interface DeliveryRecord {
  /** Position of the event in the log, as a version id is made. */
  readonly eventId: VersionId
  readonly hookId: HookId
  readonly type: EventType | 'test'
  /** In the words of S3. */
  readonly eventName: string
  readonly time: number
  /** Null: of a test. */
  readonly key: string | null
  /** As clients name it. */
  readonly versionId: string | null
  /** Null where there is no body, as of a delete marker. */
  readonly size: number | null
  readonly etag: string | null
  readonly contentType: string | null
  readonly actor: Actor
  readonly requestId: string | null
  readonly sourceIp: string | null
  readonly status: DeliveryStatus
  /** Since it was last asked for. */
  readonly attempts: number
  /** Pending: not before. */
  readonly dueAt: number
  /** Null while pending. */
  readonly settledAt: number | null
  readonly lastAttempt: Attempt | null
}

/** Index: exactly one row for each delivery, among those that wait or among those that are settled. */
export interface DeliveryName {
  readonly bucketId: BucketId
  readonly hookId: HookId
  readonly eventId: VersionId
}

/** Rows of deliveries, of one tenant. */
export interface OutboxRecord {
  readonly rows: number
}

/** Over all tenants. */
export interface OutboxTotalRecord {
  readonly pending: number
  readonly dead: number
  readonly delivered: number
  /** Since ever. */
  readonly dropped: number
}
