/** Lifecycle rules with all members, and the commands of a bucket `acme`/`photos` with them. */
import { bucketKeys } from '../../src/state-machine/buckets/keys.ts'
import type { Command } from '../../src/state-machine/commands.ts'
import type { LifecycleItem } from '../../src/state-machine/lifecycle/commands.ts'
import type { LifecycleFilter, LifecycleRule } from '../../src/state-machine/lifecycle/records.ts'
import type { MapWorld } from './map-world.ts'

export const DAY_MS = 86_400_000
export const ALL: LifecycleFilter = { prefix: '', tags: {}, sizeGreaterThan: null, sizeLessThan: null }

/** Does nothing unless something is given. */
export function ruleWith(more: Partial<LifecycleRule> = {}): LifecycleRule {
  return {
    id: 'r',
    isEnabled: true,
    filter: ALL,
    expiration: null,
    noncurrent: null,
    abortUploadDays: null,
    ...more,
  }
}

type Of<T extends Command['type']> = Extract<Command, { type: T }>

export function setLifecycle(...rules: readonly LifecycleRule[]): Of<'setBucketLifecycle'> {
  return { type: 'setBucketLifecycle', tenantId: 'acme', name: 'photos', rules }
}

export function bucketIn(world: MapWorld) {
  const bucket = world.get(bucketKeys.bucket('acme', 'photos'))
  if (bucket === undefined) throw new Error('the bucket is gone')
  return bucket
}

export function actOn(world: MapWorld, ...items: readonly LifecycleItem[]): Of<'applyLifecycleRule'> {
  const { id: bucketId } = bucketIn(world)
  return { type: 'applyLifecycleRule', tenantId: 'acme', bucket: 'photos', bucketId, ruleId: 'r', items }
}
