/** The commands of notifications with all members, and readers of their rows. */
import { bucketKeys } from '../../src/state-machine/buckets/keys.ts'
import type { View } from '../../src/state-machine/base/view.ts'
import type { Command } from '../../src/state-machine/commands.ts'
import type { AttemptResult, ConfigRequest } from '../../src/state-machine/events/commands.ts'
import type { DeliveryRecord, HookRecord } from '../../src/state-machine/events/records.ts'
import { type MapWorld, rowsOf, worldWithBucket } from './map-world.ts'

let drawn = 0

export function requested(id: string, more: Partial<ConfigRequest> = {}): ConfigRequest {
  drawn++
  return {
    id,
    url: `https://${id}.example/hook`,
    events: ['object-created', 'object-removed', 'object-tagged', 'object-lock-changed'],
    prefix: '',
    suffix: '',
    enabled: true,
    payloadFormat: 'native',
    fresh: { hookId: `HOOK${drawn}`, secret: Uint8Array.of(drawn % 256, 1) },
    ...more,
  }
}

type SetNotifications = Extract<Command, { type: 'setNotifications' }>

export function setNotifications(configs: readonly ConfigRequest[], bucket = 'photos'): SetNotifications {
  return { type: 'setNotifications', tenantId: 'acme', bucket, configs }
}

/** The same with bounds, as the gateway proposes it. */
export function setBounded(
  configs: readonly ConfigRequest[],
  { bucket = 'photos', tenant = 100, origin = 100 } = {},
): SetNotifications {
  const origins = configs.map(({ url }) => new URL(url).origin)
  return {
    ...setNotifications(configs, bucket),
    bounds: { configsMax: tenant, configsOfOriginMax: origin, origins },
  }
}

/** `acme` and its bucket `photos` with these configs. */
export function worldWithHooks(...configs: readonly ConfigRequest[]): MapWorld {
  const world = worldWithBucket()
  world.do(setNotifications(configs))
  return world
}

export function bucketId(view: View, name = 'photos'): string {
  return view.get(bucketKeys.bucket('acme', name))?.id ?? 'none'
}

export function hooks(world: MapWorld): readonly HookRecord[] {
  return rowsOf<HookRecord>(world, 'hook')
}

/** Throws when there is none. */
export function hookOf(world: MapWorld, id: string): HookRecord {
  const hook = hooks(world).find((one) => one.id === id)
  if (hook === undefined) throw new Error(`there is no hook "${id}"`)
  return hook
}

/** Oldest first. */
export function deliveries(world: MapWorld): readonly DeliveryRecord[] {
  return rowsOf<DeliveryRecord>(world, 'delivery').toSorted((one, other) =>
    one.eventId < other.eventId ? -1 : 1,
  )
}

/** The result that a deliverer reports for an attempt at this delivery. */
export function attemptAt(
  world: MapWorld,
  { hookId, eventId, attempts }: DeliveryRecord,
  more: Partial<AttemptResult> = {},
): AttemptResult {
  const hook = hooks(world).find((one) => one.hookId === hookId)
  return {
    bucketId: hook?.bucketId ?? 'none',
    hookId,
    eventId,
    attempts,
    verdict: 'failed',
    status: 500,
    error: 'status 500',
    durationMs: 3,
    retryAfterMs: null,
    jitter: 0,
    ...more,
  }
}

export const TAKEN = { verdict: 'taken', status: 204, error: null } as const

export function record(...results: readonly AttemptResult[]): Extract<Command, { type: 'recordAttempts' }> {
  return { type: 'recordAttempts', results }
}

/** Each delivery has its row in the queue, and no other row is there. */
export function queued(world: MapWorld): readonly string[] {
  return [...world.rows.keys()].filter((key) => key.includes('\u0000due\u0000'))
}
