/**
 * The replication of all buckets of a tenant that have none of their own. [docs/adr/0098-what-replication-sends.md]
 *
 * Owns: the row of the tenant, which buckets follow it, and which wait. Knows nothing of: targets; the node on duty asks them before a bucket follows.
 * Rules: the replication of a bucket of its own is never replaced by that of its tenant; a bucket follows the revision that it was asked for.
 */
import { tooMany } from '../base/batch-bound.ts'
import type { Draft } from '../base/draft.ts'
import { type Accepted, accept, type Refused, refuse } from '../base/reply.ts'
import type { ApplyContext, View } from '../base/view.ts'
import { bucketOf } from '../buckets/find-bucket.ts'
import { bucketKeys } from '../buckets/keys.ts'
import type { BucketRecord } from '../buckets/records.ts'
import { activeTenant } from '../tenants/tenants.ts'
import type { TenantSiteCommand, TenantSiteReplies } from './commands.ts'
import { siteKeys } from './keys.ts'
import { type SiteRecord, SITE_RULES_MAX, type TenantSiteRecord } from './records.ts'
import { pauseAfter } from './sending-schedule.ts'
import { endSite, forgetWaiting, placeSite, siteOf } from './sites.ts'

type Of<T extends TenantSiteCommand['type']> = Extract<TenantSiteCommand, { type: T }>

const ERROR_CHARACTERS_MAX = 300

/** Undefined: there is none, or it was removed. */
export function tenantSiteOf(view: View, tenantId: string): TenantSiteRecord | undefined {
  const site = view.get(siteKeys.tenantSite(tenantId))
  return site?.isRemoved === false ? site : undefined
}

export function setTenantReplication(
  draft: Draft,
  command: Of<'setTenantReplication'>,
  { time, index }: ApplyContext,
): Accepted<TenantSiteRecord> | Refused {
  const { tenantId, target, secret, rules, createsBuckets, existing } = command
  const tenant = activeTenant(draft, tenantId)
  if (!tenant.ok) return tenant
  const fault = rules.length > SITE_RULES_MAX ? tooMany('set replication rules', rules.length) : null
  if (fault !== null) return fault
  const since = tenantSiteOf(draft, tenantId)?.since ?? time
  const given = { tenantId, target, secret, rules, createsBuckets, existing }
  const record: TenantSiteRecord = { ...given, since, updatedAt: time, revision: index, isRemoved: false }
  draft.put(siteKeys.tenantSite(tenantId), record)
  return accept(record)
}

/** Idempotent: succeeds also if there is none. */
export function deleteTenantReplication(
  draft: Draft,
  { tenantId }: Of<'deleteTenantReplication'>,
): Accepted<null> | Refused {
  const tenant = activeTenant(draft, tenantId)
  if (!tenant.ok) return tenant
  const site = tenantSiteOf(draft, tenantId)
  if (site !== undefined) draft.put(siteKeys.tenantSite(tenantId), { ...site, isRemoved: true })
  return accept(null)
}

export function followTenant(
  draft: Draft,
  command: Of<'followTenant'>,
  context: ApplyContext,
): Accepted<SiteRecord> | Refused {
  const found = followable(draft, command)
  if (!found.ok) return found
  const { bucket, site } = found.value
  const { bucketPrefix: _, ...place } = site.target
  const { targetBucket, identity, secret } = command
  const isYounger = !bucket.hasReplication && bucket.createdAt >= site.since
  const placed = {
    target: { ...place, bucket: targetBucket, identity },
    secret,
    rules: site.rules,
    existing: site.existing || isYounger,
    ofTenant: site.revision,
  }
  return placeSite(draft, bucket, placed, context)
}

export function recordWaitingSite(
  draft: Draft,
  command: Of<'recordWaitingSite'>,
  { time }: ApplyContext,
): Accepted<null> | Refused {
  const found = followable(draft, command)
  if (!found.ok) return found
  const { tenantId, name, bucketId, revision, error, jitter } = command
  const key = siteKeys.waitingSite(tenantId, name)
  const before = draft.get(key)
  const present = before?.revision === revision && before.bucketId === bucketId ? before : undefined
  const attempts = (present?.attempts ?? 0) + 1
  draft.put(key, {
    tenantId,
    bucketId,
    bucket: name,
    revision,
    since: present?.since ?? time,
    attempts,
    dueAt: time + pauseAfter(attempts, { jitter, retryAfterMs: null }),
    lastError: error.slice(0, ERROR_CHARACTERS_MAX),
  })
  return accept(null)
}

/** Idempotent. Keeps the replication of a bucket of its own, and that of a tenant that was set again meanwhile. */
export function leaveTenant(
  draft: Draft,
  { tenantId, revision, names, isLast }: Of<'leaveTenant'>,
): Accepted<TenantSiteReplies['leaveTenant']> | Refused {
  const fault = tooMany('release buckets', names.length)
  if (fault !== null) return fault
  const site = draft.get(siteKeys.tenantSite(tenantId))
  if (site?.isRemoved !== true || site.revision !== revision) return accept({ released: 0 })
  let released = 0
  for (const name of names) {
    const bucket = draft.get(bucketKeys.bucket(tenantId, name))
    if (bucket === undefined) continue
    forgetWaiting(draft, bucket)
    if (siteOf(draft, bucket)?.ofTenant === undefined) continue
    endSite(draft, bucket)
    released++
  }
  if (isLast) draft.remove(siteKeys.tenantSite(tenantId))
  return accept({ released })
}

/** With the tenant: its buckets are gone. */
export function forgetTenantSite(draft: Draft, tenantId: string): void {
  const key = siteKeys.tenantSite(tenantId)
  if (draft.get(key) !== undefined) draft.remove(key)
}

interface Followable {
  readonly bucket: BucketRecord
  readonly site: TenantSiteRecord
}

/** The bucket may follow: it is the one that was looked at, and nothing else was decided since. */
function followable(
  view: View,
  {
    tenantId,
    name,
    bucketId,
    revision,
  }: Pick<Of<'followTenant'>, 'tenantId' | 'name' | 'bucketId' | 'revision'>,
): Accepted<Followable> | Refused {
  const tenant = activeTenant(view, tenantId)
  if (!tenant.ok) return tenant
  const bucket = bucketOf(view, tenantId, name)
  if (!bucket.ok) return bucket
  const site = tenantSiteOf(view, tenantId)
  const own = siteOf(view, bucket.value)
  const isOwn = own !== undefined && own.ofTenant === undefined
  if (bucket.value.id !== bucketId || site?.revision !== revision || isOwn)
    return refuse('precondition_failed', `Bucket "${name}" or the replication of its tenant was changed`)
  return accept({ bucket: bucket.value, site })
}
