/**
 * The lifecycle rules of a bucket: one row, always replaced as a whole, and its place in the queue of walks.
 *
 * Owns: the rows, and `hasLifecycle` in the row of the bucket. Knows nothing of: valid rules; gateways check them before they propose them.
 * Rule: rules that were set have their turn at once, so that a walk that is under way with other rules never counts for them.
 */
import { bucketKeys } from '../buckets/keys.ts'
import { configGrowth, countConfig } from '../buckets/config-bytes.ts'
import { bucketOf } from '../buckets/find-bucket.ts'
import type { BucketRecord } from '../buckets/records.ts'
import { tooMany } from '../base/batch-bound.ts'
import type { Draft } from '../base/draft.ts'
import type { ApplyContext, View } from '../base/view.ts'
import { type Accepted, accept, type Refused } from '../base/reply.ts'
import { activeTenant } from '../tenants/tenants.ts'
import { quotaFault } from '../usage/quota.ts'
import { configBytes } from '../usage/record-bytes.ts'
import { lifecycleKeys } from './keys.ts'
import type { LifecycleCommand } from './commands.ts'
import type { LifecycleRecord, LifecycleWalkRecord } from './records.ts'

/** A bucket without rules costs no read. */
export function lifecycleOf(view: View, bucket: BucketRecord): LifecycleRecord | undefined {
  return bucket.hasLifecycle ? view.get(lifecycleKeys.lifecycle(bucket.id)) : undefined
}

/** Replaces all present rules. */
export function setBucketLifecycle(
  draft: Draft,
  { tenantId, name, rules }: Extract<LifecycleCommand, { type: 'setBucketLifecycle' }>,
  context: ApplyContext,
): Accepted<LifecycleRecord> | Refused {
  const tenant = activeTenant(draft, tenantId)
  if (!tenant.ok) return tenant
  const bucket = bucketOf(draft, tenantId, name)
  if (!bucket.ok) return bucket
  const tooManyRules = tooMany('set lifecycle rules', rules.length)
  if (tooManyRules !== null) return tooManyRules
  const record: LifecycleRecord = { rules, updatedAt: context.time, revision: context.index }
  const bytes = configBytes(context, record)
  const growth = configGrowth(bucket.value, 'lifecycle', bytes)
  const fault = quotaFault(draft, tenantId, { metadataBytes: growth })
  if (fault !== null) return fault
  draft.put(lifecycleKeys.lifecycle(bucket.value.id), record)
  draft.put(bucketKeys.bucket(tenantId, name), { ...bucket.value, hasLifecycle: true })
  countConfig(draft, bucket.value, 'lifecycle', bytes)
  moveTurn(draft, bucket.value, { turnAt: context.confirmedTime, walkedAt: null })
  return accept(record)
}

/** Idempotent: succeeds also if there are no rules. */
export function deleteBucketLifecycle(
  draft: Draft,
  { tenantId, name }: Extract<LifecycleCommand, { type: 'deleteBucketLifecycle' }>,
): Accepted<null> | Refused {
  const tenant = activeTenant(draft, tenantId)
  if (!tenant.ok) return tenant
  const bucket = bucketOf(draft, tenantId, name)
  if (!bucket.ok) return bucket
  const { hasLifecycle, ...plain } = bucket.value
  if (hasLifecycle) {
    forgetLifecycle(draft, bucket.value)
    draft.put(bucketKeys.bucket(tenantId, name), plain)
    countConfig(draft, bucket.value, 'lifecycle', 0)
  }
  return accept(null)
}

/** Removes the rows beside that of the bucket, if there are any. */
export function forgetLifecycle(draft: Draft, { id, hasLifecycle }: BucketRecord): void {
  if (hasLifecycle !== true) return
  const walk = draft.get(lifecycleKeys.lifecycleWalk(id))
  if (walk !== undefined) draft.remove(lifecycleKeys.lifecycleTurn(walk.turnAt, id))
  draft.remove(lifecycleKeys.lifecycleWalk(id))
  draft.remove(lifecycleKeys.lifecycle(id))
}

export function moveTurn(
  draft: Draft,
  { id, tenantId, name }: Pick<BucketRecord, 'id' | 'tenantId' | 'name'>,
  walk: LifecycleWalkRecord,
): void {
  const present = draft.get(lifecycleKeys.lifecycleWalk(id))
  if (present !== undefined) draft.remove(lifecycleKeys.lifecycleTurn(present.turnAt, id))
  const { turnAt } = walk
  draft.put(lifecycleKeys.lifecycleWalk(id), walk)
  draft.put(lifecycleKeys.lifecycleTurn(turnAt, id), { tenantId, bucket: name, bucketId: id, turnAt })
}
