/**
 * Announces changes in a bucket to the hooks that subscribe to them: one delivery row per hook, in the entry of the change.
 *
 * Owns: which change is which event, which hooks get it, and what happens when the outbox is full. Knows nothing of: targets.
 * Rules: no change without its rows, no row without its change; a write is never refused because a hook is down.
 */
import { eventKeys } from './keys.ts'
import type { ApplyContext } from '../base/view.ts'
import { assert } from '../base/assert.ts'
import type { Draft } from '../base/draft.ts'
import { changeHook, isDeliverable, rowsOfHook } from './hooks.ts'
import type { BucketRecord } from '../buckets/records.ts'
import {
  type DeliveryRecord,
  type EventType,
  HOOK_ROWS_MAX,
  type HookRecord,
  type Subscription,
  TENANT_ROWS_MAX,
} from './records.ts'
import { queueForSite } from '../sites/queueing.ts'
import type { SiteChangeKind } from '../sites/records.ts'
import type { VersionRecord } from '../versions/records.ts'
import { versionIdAt } from '../base/version-id.ts'

/** By the event names of S3; S3 has none for locks, so those are formed like the others. */
const TYPE_OF = {
  's3:ObjectCreated:Put': 'object-created',
  's3:ObjectCreated:Copy': 'object-created',
  's3:ObjectCreated:CompleteMultipartUpload': 'object-created',
  's3:ObjectRemoved:Delete': 'object-removed',
  's3:ObjectRemoved:DeleteMarkerCreated': 'object-removed',
  's3:LifecycleExpiration:Delete': 'object-removed',
  's3:LifecycleExpiration:DeleteMarkerCreated': 'object-removed',
  's3:ObjectTagging:Put': 'object-tagged',
  's3:ObjectTagging:Delete': 'object-tagged',
  's3:ObjectRetention:Put': 'object-lock-changed',
  's3:ObjectLegalHold:Put': 'object-lock-changed',
} as const satisfies Record<string, EventType>

const TEST_EVENT = 's3:TestEvent'

export interface BucketEvent {
  readonly eventName: keyof typeof TYPE_OF
  /** The version that was made, changed or removed. */
  readonly version: VersionRecord
  /** Its position among the events of the command. */
  readonly n?: number
  /** Of a removal: the request named the version. */
  readonly isNamed?: boolean
  /** Of a deletion: it repeats one of another site. */
  readonly isReplica?: boolean
}

/** What of this the other site is to learn; null: nothing. */
const SITE_KIND_OF: Readonly<Record<keyof typeof TYPE_OF, SiteChangeKind | null>> = {
  's3:ObjectCreated:Put': 'put',
  's3:ObjectCreated:Copy': 'put',
  's3:ObjectCreated:CompleteMultipartUpload': 'put',
  's3:ObjectRemoved:Delete': 'delete',
  's3:ObjectRemoved:DeleteMarkerCreated': 'delete',
  's3:LifecycleExpiration:Delete': null,
  's3:LifecycleExpiration:DeleteMarkerCreated': null,
  's3:ObjectTagging:Put': 'tags',
  's3:ObjectTagging:Delete': 'tags',
  's3:ObjectRetention:Put': 'lock',
  's3:ObjectLegalHold:Put': 'lock',
}

/** For hooks and for the other site of the bucket. `bucket`: as it was when the command started. Costs nothing for a bucket with neither. */
export function announce(
  draft: Draft,
  bucket: BucketRecord,
  event: BucketEvent,
  context: ApplyContext,
): void {
  queueEvent(draft, bucket, event, context)
  if (bucket.hasNotifications !== true) return
  const row = draft.get(eventKeys.notifications(bucket.id))
  assert(row !== undefined, 'a bucket with hasNotifications has the row')
  const { version } = event
  const type = TYPE_OF[event.eventName]
  for (const subscription of row.subscriptions) {
    if (!wants(subscription, type, version.key)) continue
    const hook = draft.get(eventKeys.hook(bucket.id, subscription.hookId))
    assert(hook !== undefined, 'a hook that a bucket names exists')
    if (!hook.enabled || hook.stop?.kind === 'gone') continue
    const eventId = versionIdAt(context, event.n)
    addDelivery(draft, hook, { ...about(version), type, eventName: event.eventName, eventId }, context)
  }
}

function queueEvent(draft: Draft, bucket: BucketRecord, event: BucketEvent, context: ApplyContext): void {
  const { eventName, version, n, isNamed = false, isReplica = false } = event
  const kind = isNamed ? 'remove' : SITE_KIND_OF[eventName]
  if (kind === null || isReplica) return
  const isCopy = eventName === 's3:ObjectCreated:Copy'
  queueForSite(draft, bucket, { kind, version, isCopy, ...(n === undefined ? {} : { n }) }, context)
}

/** Null: the outbox is full, or the hook does not deliver now. */
export function announceTest(draft: Draft, hook: HookRecord, context: ApplyContext): DeliveryRecord | null {
  if (!isDeliverable(hook)) return null
  const nothing = { key: null, versionId: null, size: null, etag: null, contentType: null }
  const eventId = versionIdAt(context)
  return addDelivery(draft, hook, { ...nothing, type: 'test', eventName: TEST_EVENT, eventId }, context)
}

function wants({ events, prefix, suffix }: Subscription, type: EventType, key: string): boolean {
  return events.includes(type) && key.startsWith(prefix) && key.endsWith(suffix)
}

type Payload = Pick<DeliveryRecord, 'key' | 'versionId' | 'size' | 'etag' | 'contentType'>

function about(version: VersionRecord): Payload {
  const { key } = version
  const versionId = version.isNull ? 'null' : version.versionId
  if (version.kind === 'deleteMarker') return { key, versionId, size: null, etag: null, contentType: null }
  const { size, etag, contentType } = version
  return { key, versionId, size, etag, contentType }
}

function addDelivery(
  draft: Draft,
  hook: HookRecord,
  event: Payload & Pick<DeliveryRecord, 'type' | 'eventName' | 'eventId'>,
  { time, origin }: ApplyContext,
): DeliveryRecord | null {
  if (!hasSpace(draft, hook)) {
    changeHook(draft, hook, { ...hook, dropped: hook.dropped + 1, droppedAt: time })
    return null
  }
  const { hookId } = hook
  const delivery: DeliveryRecord = {
    ...event,
    hookId,
    time,
    actor: origin?.actor ?? { type: 'system', id: null, role: null },
    requestId: origin?.requestId ?? null,
    sourceIp: origin?.sourceIp ?? null,
    status: 'pending',
    attempts: 0,
    dueAt: time,
    settledAt: null,
    lastAttempt: null,
  }
  const name = { bucketId: hook.bucketId, hookId, eventId: event.eventId }
  draft.put(eventKeys.delivery(name), delivery)
  draft.put(eventKeys.due(name, time), name)
  changeHook(draft, hook, { ...hook, pending: hook.pending + 1 })
  return delivery
}

function hasSpace(draft: Draft, hook: HookRecord): boolean {
  const rows = draft.get(eventKeys.outbox(hook.tenantId))?.rows ?? 0
  return rowsOfHook(hook) - hook.delivered < HOOK_ROWS_MAX && rows < TENANT_ROWS_MAX
}
