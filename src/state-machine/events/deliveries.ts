/**
 * Deliveries of announced events: their attempts, their ends, redelivery.
 *
 * Owns: the states pending, delivered and dead of a delivery, and the stop of a hook. Knows nothing of: sockets.
 * Rules: a row leaves the queue only in the entry that records the reason; a result counts once, however often it is reported.
 */
import { eventKeys } from './keys.ts'
import type { ApplyContext, View } from '../base/view.ts'
import { assert } from '../base/assert.ts'
import { tooMany } from '../base/batch-bound.ts'
import { bucketOf } from '../buckets/find-bucket.ts'
import type { BucketRecord } from '../buckets/records.ts'
import type { AttemptResult, NotificationCommand } from './commands.ts'
import type { Attempt, DeliveryName, DeliveryRecord, HookRecord, HookStop } from './records.ts'
import { delayAfter, pauseFor, SUSPEND_AFTER_MS } from './delivery-schedule.ts'
import type { Draft } from '../base/draft.ts'
import { announceTest } from './events.ts'
import { changeHook, isDeliverable } from './hooks.ts'
import { type Accepted, accept, type Refused, refuse } from '../base/reply.ts'
import { activeTenant } from '../tenants/tenants.ts'

export function recordAttempts(
  draft: Draft,
  command: Extract<NotificationCommand, { type: 'recordAttempts' }>,
  context: ApplyContext,
): Accepted<{ readonly recorded: number }> | Refused {
  const fault = tooMany('record attempts', command.results.length)
  if (fault !== null) return fault
  let recorded = 0
  for (const result of command.results) {
    const hook = draft.get(eventKeys.hook(result.bucketId, result.hookId))
    const delivery = draft.get(eventKeys.delivery(result))
    const isNew = delivery?.status === 'pending' && delivery.attempts === result.attempts
    if (hook === undefined || hook.state === 'removed' || !isNew) continue
    record(draft, { hook, delivery, result }, context)
    recorded++
  }
  return accept({ recorded })
}

interface Attempted {
  readonly hook: HookRecord
  readonly delivery: DeliveryRecord
  readonly result: AttemptResult
}

function record(draft: Draft, { hook, delivery, result }: Attempted, context: ApplyContext): void {
  const { time } = context
  const { status, error, durationMs, verdict } = result
  const lastAttempt: Attempt = { at: time, status, error, durationMs }
  const attempts = delivery.attempts + 1
  const tried = { ...delivery, attempts, lastAttempt }
  if (verdict === 'taken') {
    const well = { failures: 0, failingSince: null, notBefore: 0 }
    move(draft, { hook: { ...hook, ...well }, before: hook, delivery }, settledAs(tried, 'delivered', time))
    return
  }
  const delay = delayAfter(attempts, result)
  const next = delay === null ? settledAs(tried, 'dead', time) : { ...tried, dueAt: time + delay }
  move(draft, { hook: failed(hook, result, context), before: hook, delivery }, next)
}

function settledAs(
  delivery: DeliveryRecord,
  status: 'delivered' | 'dead',
  settledAt: number,
): DeliveryRecord {
  return { ...delivery, status, settledAt }
}

function failed(
  hook: HookRecord,
  { verdict, retryAfterMs, status, error }: AttemptResult,
  { time, confirmedTime }: ApplyContext,
) {
  const failures = hook.failures + 1
  const failingSince = hook.failingSince ?? time
  const notBefore = Math.max(hook.notBefore, time + pauseFor(retryAfterMs))
  return { ...hook, failures, failingSince, notBefore, stop: hook.stop ?? stopOf() }

  function stopOf(): HookStop | null {
    if (verdict === 'gone')
      return { kind: 'gone', reason: 'The receiver answered 410: it wants no more deliveries', at: time }
    if (confirmedTime - failingSince < SUSPEND_AFTER_MS) return null
    const last = error ?? `status ${status ?? 'unknown'}`
    const reason = `Nothing but failures since ${failures} attempts, for ${SUSPEND_AFTER_MS / 3_600_000} hours; the last one: ${last}`
    return { kind: 'suspended', reason, at: time }
  }
}

interface Move {
  /** With all changes except those of its counts. */
  readonly hook: HookRecord
  readonly before: HookRecord
  readonly delivery: DeliveryRecord
}

/** Moves a delivery from one index row to another, and adjusts the counts. */
function move(draft: Draft, { hook, before, delivery }: Move, next: DeliveryRecord): void {
  const name = { bucketId: hook.bucketId, hookId: hook.hookId, eventId: delivery.eventId }
  draft.remove(indexOf(name, delivery))
  draft.put(indexOf(name, next), name)
  draft.put(eventKeys.delivery(name), next)
  const counts = { pending: hook.pending, dead: hook.dead, delivered: hook.delivered }
  counts[delivery.status]--
  counts[next.status]++
  changeHook(draft, before, { ...hook, ...counts })
}

/** The one index row of a delivery. */
export function indexOf(name: DeliveryName, { status, dueAt, settledAt }: DeliveryRecord) {
  if (status === 'pending') return eventKeys.due(name, dueAt)
  assert(settledAt !== null, 'a settled delivery has the time of its end')
  return eventKeys.settled(name, status, settledAt)
}

/** Idempotent. Keeps the pending deliveries of a hook that is not removed. */
export function forgetDeliveries(
  draft: Draft,
  command: Extract<NotificationCommand, { type: 'forgetDeliveries' }>,
): Accepted<{ readonly forgotten: number }> | Refused {
  const { bucketId, hookId, eventIds } = command
  const fault = tooMany('forget deliveries', eventIds.length)
  if (fault !== null) return fault
  const hook = draft.get(eventKeys.hook(bucketId, hookId))
  if (hook === undefined) return accept({ forgotten: 0 })
  const left = { pending: hook.pending, dead: hook.dead, delivered: hook.delivered }
  let forgotten = 0
  for (const eventId of eventIds) {
    const name = { bucketId, hookId, eventId }
    const delivery = draft.get(eventKeys.delivery(name))
    if (delivery === undefined) continue
    if (delivery.status === 'pending' && hook.state !== 'removed') continue
    draft.remove(eventKeys.delivery(name))
    draft.remove(indexOf(name, delivery))
    left[delivery.status]--
    forgotten++
  }
  if (forgotten > 0) changeHook(draft, hook, { ...hook, ...left })
  return accept({ forgotten })
}

/** Makes a delivery pending and due now, with all attempts left, regardless of its state. */
export function redeliver(
  draft: Draft,
  command: Extract<NotificationCommand, { type: 'redeliver' }>,
  context: ApplyContext,
): Accepted<DeliveryRecord> | Refused {
  const { hookId, eventId } = command
  const bucket = bucketFor(draft, command)
  if (!bucket.ok) return bucket
  const name = { bucketId: bucket.value.id, hookId, eventId }
  const delivery = draft.get(eventKeys.delivery(name))
  const hook = draft.get(eventKeys.hook(name.bucketId, hookId))
  if (delivery === undefined || hook === undefined || hook.state === 'removed')
    return refuse('not_found', 'The delivery does not exist, or was removed')
  if (!isDeliverable(hook)) return notDelivering(hook)
  const again: DeliveryRecord = {
    ...delivery,
    status: 'pending',
    attempts: 0,
    dueAt: context.time,
    settledAt: null,
  }
  move(draft, { hook, before: hook, delivery }, again)
  return accept(again)
}

export function testHook(
  draft: Draft,
  command: Extract<NotificationCommand, { type: 'testHook' }>,
  context: ApplyContext,
): Accepted<DeliveryRecord> | Refused {
  const bucket = bucketFor(draft, command)
  if (!bucket.ok) return bucket
  const { id } = bucket.value
  const named = draft
    .get(eventKeys.notifications(id))
    ?.subscriptions.find((subscription) => subscription.id === command.configId)
  const hook = named === undefined ? undefined : draft.get(eventKeys.hook(id, named.hookId))
  if (hook === undefined)
    return refuse('not_found', `Bucket "${command.bucket}" has no notification config "${command.configId}"`)
  if (!isDeliverable(hook)) return notDelivering(hook)
  const delivery = announceTest(draft, hook, context)
  return delivery === null
    ? refuse('invalid_bucket_state', `Config "${hook.id}" has the maximum number of undelivered events`)
    : accept(delivery)
}

function bucketFor(
  view: View,
  { tenantId, bucket }: { readonly tenantId: string; readonly bucket: string },
): Accepted<BucketRecord> | Refused {
  const tenant = activeTenant(view, tenantId)
  return tenant.ok ? bucketOf(view, tenantId, bucket) : tenant
}

function notDelivering({ id, stop }: HookRecord): Refused {
  const why = stop === null ? 'disabled' : stop.kind === 'gone' ? 'stopped' : 'suspended'
  return refuse(
    'invalid_bucket_state',
    `Config "${id}" is ${why}: PUT the notifications with "enabled": true first`,
  )
}
