/**
 * What happens in a bucket, told to the hooks that want to hear of it: one row for each, in the entry of the change.
 *
 * Owns: which change is which event, who hears of it, and what is done when there is no room. Knows nothing of: targets.
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
import type { VersionRecord } from '../versions/records.ts'
import { versionIdAt } from '../base/version-id.ts'

/** By the names of S3; of locks it has none, these are formed like the others. */
const TYPE_OF = {
  's3:ObjectCreated:Put': 'object-created',
  's3:ObjectCreated:Copy': 'object-created',
  's3:ObjectCreated:CompleteMultipartUpload': 'object-created',
  's3:ObjectRemoved:Delete': 'object-removed',
  's3:ObjectRemoved:DeleteMarkerCreated': 'object-removed',
  's3:ObjectTagging:Put': 'object-tagged',
  's3:ObjectTagging:Delete': 'object-tagged',
  's3:ObjectRetention:Put': 'object-lock-changed',
  's3:ObjectLegalHold:Put': 'object-lock-changed',
} as const satisfies Record<string, EventType>

const TEST_EVENT = 's3:TestEvent'

export interface BucketEvent {
  readonly eventName: keyof typeof TYPE_OF
  /** What was made, changed or removed. */
  readonly version: VersionRecord
  /** Its place among those of the command. */
  readonly n?: number
}

/** `bucket`: as it was when the command began. Costs nothing where nobody listens. */
export function announce(
  draft: Draft,
  bucket: BucketRecord,
  event: BucketEvent,
  context: ApplyContext,
): void {
  if (bucket.hasNotifications !== true) return
  const row = draft.get(eventKeys.notifications(bucket.id))
  assert(row !== undefined, 'a bucket that says it has notifications has them')
  const { version } = event
  const type = TYPE_OF[event.eventName]
  for (const subscription of row.subscriptions) {
    if (!wants(subscription, type, version.key)) continue
    const hook = draft.get(eventKeys.hook(bucket.id, subscription.hookId))
    assert(hook !== undefined, 'a hook that a bucket names is there')
    if (!hook.enabled || hook.stop?.kind === 'gone') continue
    const eventId = versionIdAt(context, event.n)
    addDelivery(draft, hook, { ...about(version), type, eventName: event.eventName, eventId }, context)
  }
}

/** Null: there is no room, or the hook does not deliver now. */
export function announceTest(draft: Draft, hook: HookRecord, context: ApplyContext): DeliveryRecord | null {
  if (!isDeliverable(hook)) return null
  const nothing = { key: null, versionId: null, size: null, etag: null, contentType: null }
  const eventId = versionIdAt(context)
  return addDelivery(draft, hook, { ...nothing, type: 'test', eventName: TEST_EVENT, eventId }, context)
}

function wants({ events, prefix, suffix }: Subscription, type: EventType, key: string): boolean {
  return events.includes(type) && key.startsWith(prefix) && key.endsWith(suffix)
}

type Told = Pick<DeliveryRecord, 'key' | 'versionId' | 'size' | 'etag' | 'contentType'>

function about(version: VersionRecord): Told {
  const { key } = version
  const versionId = version.isNull ? 'null' : version.versionId
  if (version.kind === 'deleteMarker') return { key, versionId, size: null, etag: null, contentType: null }
  const { size, etag, contentType } = version
  return { key, versionId, size, etag, contentType }
}

function addDelivery(
  draft: Draft,
  hook: HookRecord,
  told: Told & Pick<DeliveryRecord, 'type' | 'eventName' | 'eventId'>,
  { time, origin }: ApplyContext,
): DeliveryRecord | null {
  if (!hasRoom(draft, hook)) {
    changeHook(draft, hook, { ...hook, dropped: hook.dropped + 1, droppedAt: time })
    return null
  }
  const { hookId } = hook
  const delivery: DeliveryRecord = {
    ...told,
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
  const name = { bucketId: hook.bucketId, hookId, eventId: told.eventId }
  draft.put(eventKeys.delivery(name), delivery)
  draft.put(eventKeys.due(name, time), name)
  changeHook(draft, hook, { ...hook, pending: hook.pending + 1 })
  return delivery
}

function hasRoom(draft: Draft, hook: HookRecord): boolean {
  const rows = draft.get(eventKeys.outbox(hook.tenantId))?.rows ?? 0
  return rowsOfHook(hook) - hook.delivered < HOOK_ROWS_MAX && rows < TENANT_ROWS_MAX
}
