/**
 * How many notification configs a tenant may have, over all its buckets and to one origin. [docs/adr/0050-where-webhooks-may-lead.md]
 *
 * Owns: the decision. Knows nothing of: URLs; the gateway names the origin of each config. Rules: what does not grow is never refused,
 * so configs beyond a bound can be changed and removed; counts change in the entries that change hooks, so a bound is exact.
 */
import type { View } from '../base/view.ts'
import { isKeyPart, type RowKey } from '../base/row-key.ts'
import { type Refused, refuse } from '../base/reply.ts'
import type { NotificationCommand } from './commands.ts'
import { originOf } from './hooks.ts'
import { eventKeys } from './keys.ts'
import type { HookCountRecord, HookRecord } from './records.ts'

type SetNotifications = Extract<NotificationCommand, { type: 'setNotifications' }>

/** `present`: the open hooks of the bucket. Null: the configs fit. */
export function boundsFault(
  view: View,
  present: readonly HookRecord[],
  { tenantId, configs, bounds }: SetNotifications,
): Refused | null {
  if (bounds === undefined) return null
  const { origins, configsMax, configsOfOriginMax } = bounds
  if (origins.length !== configs.length || !origins.every(isKeyPart))
    return refuse('invalid_argument', 'Cannot set configs: there is not one origin for each of them')
  const counted = tally(present.map(originOf))
  const elsewhere = (key: RowKey<HookCountRecord>, here: number): number => (view.get(key)?.hooks ?? 0) - here
  const others = elsewhere(eventKeys.tenantHooks(tenantId), total(counted))
  if (origins.length > present.length && others + origins.length > configsMax)
    return tooMany(tenantId, others + origins.length, {
      what: 'notification configs',
      setting: `limits.notification_configs_per_tenant (${configsMax})`,
    })
  // Hooks that do not count yet are at the origin of the same URL.
  const originAt = new Map(configs.map(({ url }, n) => [url, origins[n]]))
  const before = tally(present.map((hook) => originOf(hook) ?? originAt.get(hook.url)))
  for (const [origin, wanted] of tally(origins)) {
    const sum = wanted + elsewhere(eventKeys.originHooks(tenantId, origin), counted.get(origin) ?? 0)
    if (wanted > (before.get(origin) ?? 0) && sum > configsOfOriginMax)
      return tooMany(tenantId, sum, {
        what: `notification configs that lead to ${origin}`,
        setting: `limits.notification_configs_per_origin (${configsOfOriginMax})`,
      })
  }
  return null
}

function tooMany(
  tenantId: string,
  sum: number,
  { what, setting }: { readonly what: string; readonly setting: string },
): Refused {
  return refuse(
    'quota_exceeded',
    `Tenant "${tenantId}" would have ${sum} ${what} in all its buckets, more than ${setting} allows: remove some, or ask an operator for more`,
  )
}

/** How often each occurs; undefined does not count. */
function tally(origins: readonly (string | undefined)[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const origin of origins) if (origin !== undefined) counts.set(origin, (counts.get(origin) ?? 0) + 1)
  return counts
}

function total(counts: ReadonlyMap<string, number>): number {
  return [...counts.values()].reduce((sum, count) => sum + count, 0)
}
