/**
 * The row of a hook and everything that follows from it: the index of busy hooks, the counts of deliveries of its tenant and of all
 * tenants, the counts of hooks of its tenant and of its origin.
 *
 * Owns: when a hook ends, and that counts change together with the rows that they count. Knows nothing of: events, attempts.
 * Rule: only this file writes hook rows.
 */
import { eventKeys } from './keys.ts'
import type { View } from '../base/view.ts'
import { assert } from '../base/assert.ts'
import type { Draft } from '../base/draft.ts'
import type { BucketRecord } from '../buckets/records.ts'
import type { HookRecord, OutboxTotalRecord } from './records.ts'

export const NO_OUTBOX: OutboxTotalRecord = { pending: 0, dead: 0, delivered: 0, dropped: 0 }

/** Whether the hook delivers now. */
export function isDeliverable({ state, enabled, stop }: HookRecord): boolean {
  return state !== 'removed' && enabled && stop === null
}

/** Whether the hook has an index row. */
export function isBusy(hook: HookRecord): boolean {
  return hook.pending > 0 && isDeliverable(hook)
}

export function rowsOfHook({ pending, dead, delivered }: HookRecord): number {
  return pending + dead + delivered
}

/** The hook after a change: a draining hook becomes removed when it has nothing to deliver; a removed one is null without rows. */
function settled(hook: HookRecord): HookRecord | null {
  const isOver = hook.state === 'draining' && !isBusy(hook)
  const next: HookRecord = isOver || hook.state === 'removed' ? removed(hook) : hook
  return next.state === 'removed' && rowsOfHook(next) === 0 ? null : next
}

function removed(hook: HookRecord): HookRecord {
  return { ...hook, state: 'removed', secret: new Uint8Array(0) }
}

/** `before` null: a new hook. Returns the row that was written; null if the hook was deleted. */
export function changeHook(draft: Draft, before: HookRecord | null, wanted: HookRecord): HookRecord | null {
  const { bucketId, hookId, tenantId } = wanted
  const after = settled(wanted)
  if (after === null) draft.remove(eventKeys.hook(bucketId, hookId))
  else draft.put(eventKeys.hook(bucketId, hookId), after)
  const wasBusy = before !== null && isBusy(before)
  const isBusyNow = after !== null && isBusy(after)
  if (isBusyNow && !wasBusy) draft.put(eventKeys.busyHook(bucketId, hookId), { bucketId, hookId })
  if (wasBusy && !isBusyNow) draft.remove(eventKeys.busyHook(bucketId, hookId))
  countHook(draft, tenantId, { before: originOf(before), after: originOf(after) })
  countTotal(draft, before, wanted)
  countTenant(draft, tenantId, rowsOfHook(wanted) - (before === null ? 0 : rowsOfHook(before)))
  return after
}

/** Undefined: the hook counts nothing. */
export function originOf(hook: HookRecord | null): string | undefined {
  return hook?.state === 'open' ? hook.countedOrigin : undefined
}

function countHook(
  draft: Draft,
  tenantId: string,
  { before, after }: { readonly before: string | undefined; readonly after: string | undefined },
): void {
  if (before === after) return
  const counts = [
    [before, -1],
    [after, 1],
  ] as const
  for (const [origin, change] of counts) {
    if (origin === undefined) continue
    for (const key of [eventKeys.tenantHooks(tenantId), eventKeys.originHooks(tenantId, origin)]) {
      const hooks = (draft.get(key)?.hooks ?? 0) + change
      assert(hooks >= 0, 'the count of hooks is never negative')
      if (hooks === 0) draft.remove(key)
      else draft.put(key, { hooks })
    }
  }
}

function countTotal(draft: Draft, before: HookRecord | null, after: HookRecord): void {
  const total = { ...outboxTotal(draft) }
  let isChanged = false
  for (const figure of Object.keys(NO_OUTBOX) as (keyof OutboxTotalRecord)[]) {
    const difference = after[figure] - (before?.[figure] ?? 0)
    total[figure] += difference
    isChanged ||= difference !== 0
    assert(after[figure] >= 0 && total[figure] >= 0, 'counts of deliveries are never negative')
  }
  if (isChanged) draft.put(eventKeys.outboxTotal(), total)
}

function countTenant(draft: Draft, tenantId: string, difference: number): void {
  if (difference === 0) return
  const key = eventKeys.outbox(tenantId)
  const rows = (draft.get(key)?.rows ?? 0) + difference
  assert(rows >= 0, 'the delivery count of a tenant is never negative')
  if (rows === 0) draft.remove(key)
  else draft.put(key, { rows })
}

export function outboxTotal(view: View): OutboxTotalRecord {
  return view.get(eventKeys.outboxTotal()) ?? NO_OUTBOX
}

/** The hooks of a bucket, in the order of its configs. */
export function hooksOf(view: View, bucket: BucketRecord): readonly HookRecord[] {
  if (bucket.hasNotifications !== true) return []
  const { subscriptions = [] } = view.get(eventKeys.notifications(bucket.id)) ?? {}
  return subscriptions.map(({ hookId }) => {
    const hook = view.get(eventKeys.hook(bucket.id, hookId))
    assert(hook !== undefined, 'a hook that a bucket names exists')
    return hook
  })
}

/** For a bucket that is deleted in this entry. `state`: whether its hooks still make their pending deliveries. */
export function leaveHooks(draft: Draft, bucket: BucketRecord, state: 'draining' | 'removed'): void {
  if (bucket.hasNotifications !== true) return
  for (const hook of hooksOf(draft, bucket)) changeHook(draft, hook, { ...hook, state })
  draft.remove(eventKeys.notifications(bucket.id))
}
