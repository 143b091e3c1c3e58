/**
 * The replication of a bucket: where to and what, always replaced as a whole.
 *
 * Owns: the row, and `hasReplication` in the row of the bucket. Knows nothing of: valid targets; gateways check them before they propose them.
 * Rules: what waits stays when target or rules change; what waits goes when replication is removed.
 */
import { assert } from '../base/assert.ts'
import { tooMany } from '../base/batch-bound.ts'
import type { Draft } from '../base/draft.ts'
import { type Accepted, accept, type Refused, refuse } from '../base/reply.ts'
import type { ApplyContext, View } from '../base/view.ts'
import { configGrowth, countConfig } from '../buckets/config-bytes.ts'
import { bucketOf } from '../buckets/find-bucket.ts'
import { bucketKeys } from '../buckets/keys.ts'
import type { BucketRecord } from '../buckets/records.ts'
import { activeTenant } from '../tenants/tenants.ts'
import { quotaFault } from '../usage/quota.ts'
import { configBytes } from '../usage/record-bytes.ts'
import type { SiteCommand } from './commands.ts'
import { siteKeys } from './keys.ts'
import { type SiteRecord, SITE_RULES_MAX, type SiteStateRecord } from './records.ts'
import { changeState, newState, resyncing } from './site-state.ts'

/** A bucket without replication costs no read. */
export function siteOf(view: View, bucket: BucketRecord): SiteRecord | undefined {
  return bucket.hasReplication ? view.get(siteKeys.site(bucket.id)) : undefined
}

interface FoundSite {
  readonly site: SiteRecord
  readonly state: SiteStateRecord
}

/** The replication that a command on a bucket means. */
export function siteFor(
  view: View,
  { tenantId, name }: { readonly tenantId: string; readonly name: string },
): Accepted<FoundSite> | Refused {
  const tenant = activeTenant(view, tenantId)
  if (!tenant.ok) return tenant
  const bucket = bucketOf(view, tenantId, name)
  if (!bucket.ok) return bucket
  const site = siteOf(view, bucket.value)
  if (site === undefined) return refuse('not_found', `Bucket "${name}" is not replicated`)
  const state = view.get(siteKeys.siteState(site.bucketId))
  assert(state !== undefined, 'a bucket with hasReplication has its state')
  return accept({ site, state })
}

export function setBucketReplication(
  draft: Draft,
  command: Extract<SiteCommand, { type: 'setBucketReplication' }>,
  context: ApplyContext,
): Accepted<SiteRecord> | Refused {
  const { tenantId, name, bucketId, target, secret, rules, existing } = command
  const tenant = activeTenant(draft, tenantId)
  if (!tenant.ok) return tenant
  const found = bucketOf(draft, tenantId, name)
  if (!found.ok) return found
  const bucket = found.value
  if (bucket.id !== bucketId)
    return refuse('precondition_failed', `Bucket "${name}" is another one now: set its replication again`)
  return placeSite(draft, bucket, { target, secret, rules, existing }, context)
}

/** What the replication of a bucket consists of, its own or that of its tenant. */
export interface SitePlacement extends Pick<SiteRecord, 'target' | 'secret' | 'rules' | 'ofTenant'> {
  readonly existing: boolean
}

/** The bucket has this replication, and waits for no other, from now on. */
export function placeSite(
  draft: Draft,
  bucket: BucketRecord,
  { existing, ...placed }: SitePlacement,
  context: ApplyContext,
): Accepted<SiteRecord> | Refused {
  const { target, rules } = placed
  const { tenantId, id: bucketId, name } = bucket
  const fault = rules.length > SITE_RULES_MAX ? tooMany('set replication rules', rules.length) : null
  if (fault !== null) return fault
  const bytes = configBytes(context, { target, rules })
  const growth = configGrowth(bucket, 'replication', bytes)
  const full = quotaFault(draft, tenantId, { metadataBytes: growth })
  if (full !== null) return full
  const { time: updatedAt, index: revision } = context
  const record: SiteRecord = { tenantId, bucketId, bucket: name, ...placed, updatedAt, revision }
  draft.put(siteKeys.site(bucketId), record)
  draft.put(bucketKeys.bucket(tenantId, name), { ...bucket, hasReplication: true })
  countConfig(draft, bucket, 'replication', bytes)
  forgetWaiting(draft, bucket)
  // What an earlier replication left may have been removed in part: it goes to the new target as far as it is there.
  const before = draft.get(siteKeys.siteState(bucketId)) ?? newState(bucket)
  const fresh = { isRemoved: false, failures: 0, failingSince: null, notBefore: 0, lastError: null }
  const state = { ...before, ...fresh }
  changeState(draft, existing ? resyncing(state, context) : state)
  return accept(record)
}

/** Idempotent: succeeds also if there is none. */
export function deleteBucketReplication(
  draft: Draft,
  { tenantId, name }: Extract<SiteCommand, { type: 'deleteBucketReplication' }>,
): Accepted<null> | Refused {
  const tenant = activeTenant(draft, tenantId)
  if (!tenant.ok) return tenant
  const bucket = bucketOf(draft, tenantId, name)
  if (!bucket.ok) return bucket
  const { ofTenant } = siteOf(draft, bucket.value) ?? {}
  if (ofTenant !== undefined && draft.get(siteKeys.tenantSite(tenantId))?.isRemoved === false)
    return refuse(
      'precondition_failed',
      `Bucket "${name}" is replicated as all of tenant "${tenantId}": give it a replication of its own with a disabled rule, or end that of the tenant`,
    )
  endSite(draft, bucket.value)
  return accept(null)
}

/** Idempotent. */
export function endSite(draft: Draft, bucket: BucketRecord): void {
  const { hasReplication, ...plain } = bucket
  if (hasReplication !== true) return
  forgetSite(draft, bucket)
  draft.put(bucketKeys.bucket(bucket.tenantId, bucket.name), plain)
  countConfig(draft, bucket, 'replication', 0)
}

/** That it is to follow its tenant. */
export function forgetWaiting(draft: Draft, { tenantId, name }: BucketRecord): void {
  const key = siteKeys.waitingSite(tenantId, name)
  if (draft.get(key) !== undefined) draft.remove(key)
}

/** Ends the replication of a bucket; rows that wait are removed step by step, and never sent. */
export function forgetSite(draft: Draft, { id, hasReplication }: BucketRecord): void {
  if (hasReplication !== true) return
  draft.remove(siteKeys.site(id))
  const state = draft.get(siteKeys.siteState(id))
  assert(state !== undefined, 'a bucket with hasReplication has its state')
  changeState(draft, { ...state, isRemoved: true, resync: null, dropped: 0 })
}
