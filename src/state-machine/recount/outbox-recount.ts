/**
 * The part of a recount for notifications: compares index rows and counts with the hooks and deliveries that they follow from.
 *
 * Owns: what follows from hooks and deliveries. Knows nothing of: where rows come from. Rule: as in recount.ts; memory grows
 * with hooks, not with deliveries.
 */
import { eventKeys } from '../events/keys.ts'
import type { Row, View } from '../base/view.ts'
import { indexOf } from '../events/deliveries.ts'
import { isBusy, NO_OUTBOX, originOf, rowsOfHook } from '../events/hooks.ts'
import type { TextHash } from '../base/text-hash.ts'
import type { BucketRecord } from '../buckets/records.ts'
import type {
  DeliveryRecord,
  HookCountRecord,
  HookRecord,
  NotificationsRecord,
  OutboxRecord,
  OutboxTotalRecord,
} from '../events/records.ts'

type Counted = Record<'pending' | 'dead' | 'delivered', number>

export class OutboxRecount {
  readonly #hash: TextHash
  readonly #view: View
  readonly #hooks = new Map<string, HookRecord>()
  /** Delivery rows by status, for each hook. */
  readonly #rows = new Map<string, Counted>()
  /** Hashes of the rows that follow from deliveries, hooks and buckets minus those of the rows that exist. */
  #followed = 0n
  /** By the key of the row with the count: deliveries that there are minus those that are counted. */
  readonly #tenants = new Map<string, number>()
  /** The same for hooks that count. */
  readonly #hookCounts = new Map<string, number>()

  constructor(hash: TextHash, view: View) {
    this.#hash = hash
    this.#view = view
  }

  takeBucket({ id, hasNotifications }: BucketRecord): void {
    if (hasNotifications === true) this.#followed += this.#hash(eventKeys.notifications(id))
  }

  /** Takes any row; rows of other kinds are ignored. */
  take(kind: string, key: string, row: Row): void {
    switch (kind) {
      case 'notifications':
        return this.#takeNotifications(key, row as NotificationsRecord)
      case 'hook':
        return this.#takeHook(row as HookRecord)
      case 'delivery':
        return this.#takeDelivery(key, row as DeliveryRecord)
      case 'due':
      case 'settled':
      case 'busyHook':
        this.#followed -= this.#hash(key)
        return
      case 'outbox':
        return add(this.#tenants, key, -(row as OutboxRecord).rows)
      case 'tenantHooks':
      case 'originHooks':
        add(this.#hookCounts, key, -(row as HookCountRecord).hooks)
    }
  }

  /** Returns the differences as sentences. */
  finish(): readonly string[] {
    const found: string[] = []
    const total: Record<keyof OutboxTotalRecord, number> = { ...NO_OUTBOX }
    for (const [id, hook] of this.#hooks) {
      const rows = this.#rows.get(id) ?? NO_OUTBOX
      for (const figure of ['pending', 'dead', 'delivered'] as const) {
        total[figure] += rows[figure]
        if (rows[figure] !== hook[figure])
          found.push(`hook "${hook.hookId}": ${figure} is ${rows[figure]} and counted as ${hook[figure]}`)
      }
    }
    const counted = this.#view.get(eventKeys.outboxTotal()) ?? NO_OUTBOX
    for (const figure of ['pending', 'dead', 'delivered'] as const)
      if (total[figure] !== counted[figure])
        found.push(`${total[figure]} deliveries that are ${figure} are counted as ${counted[figure]}`)
    for (const [key, difference] of this.#tenants)
      if (difference !== 0)
        found.push(`deliveries of tenant "${tenantIn(key)}" and their count differ by ${difference}`)
    for (const [key, difference] of this.#hookCounts)
      if (difference !== 0)
        found.push(
          `notification configs of tenant "${tenantIn(key)}" and their count differ by ${difference}`,
        )
    if ([...this.#rows.keys()].some((id) => !this.#hooks.has(id)))
      found.push('a delivery belongs to a hook that is not there')
    if (this.#followed !== 0n) found.push('rows of notifications do not follow from hooks and deliveries')
    return found
  }

  /** The hooks that a bucket names and the open hooks must be the same. */
  #takeNotifications(key: string, { subscriptions }: NotificationsRecord): void {
    const [, bucketId = ''] = key.split('\u0000')
    this.#followed -= this.#hash(key)
    for (const { hookId, id } of subscriptions)
      this.#followed -= this.#hash(`open ${eventKeys.hook(bucketId, hookId)} ${id}`)
  }

  #takeHook(hook: HookRecord): void {
    const { bucketId, hookId, id, tenantId, state } = hook
    const key = eventKeys.hook(bucketId, hookId)
    this.#hooks.set(key, hook)
    if (state === 'open') this.#followed += this.#hash(`open ${key} ${id}`)
    if (isBusy(hook)) this.#followed += this.#hash(eventKeys.busyHook(bucketId, hookId))
    add(this.#tenants, eventKeys.outbox(tenantId), rowsOfHook(hook))
    const origin = originOf(hook)
    if (origin === undefined) return
    add(this.#hookCounts, eventKeys.tenantHooks(tenantId), 1)
    add(this.#hookCounts, eventKeys.originHooks(tenantId, origin), 1)
  }

  #takeDelivery(key: string, delivery: DeliveryRecord): void {
    const [, bucketId = ''] = key.split('\u0000')
    const { hookId, eventId, status } = delivery
    const hook = eventKeys.hook(bucketId, hookId)
    const rows = this.#rows.get(hook) ?? { pending: 0, dead: 0, delivered: 0 }
    rows[status]++
    this.#rows.set(hook, rows)
    this.#followed += this.#hash(indexOf({ bucketId, hookId, eventId }, delivery))
  }
}

function add(counts: Map<string, number>, key: string, change: number): void {
  counts.set(key, (counts.get(key) ?? 0) + change)
}

function tenantIn(key: string): string {
  return key.split('\u0000')[1] ?? ''
}
