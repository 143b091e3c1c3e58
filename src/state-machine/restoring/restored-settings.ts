/**
 * Settings out of a backup: of a bucket and of a tenant, once they are whole.
 *
 * Owns: what comes back, and that the mark of the restore goes in the same entry. Rules: rules that remove versions, policies that give access and a quota
 * begin when everything is there; webhooks and replication do not come back, because they would repeat to others what happened before.
 */
import type { Draft } from '../base/draft.ts'
import { type Accepted, accept, type Refused } from '../base/reply.ts'
import type { ApplyContext } from '../base/view.ts'
import { setBucketPolicy } from '../buckets/bucket-policies.ts'
import { setBucketCors } from '../buckets/cors.ts'
import { bucketKeys } from '../buckets/keys.ts'
import { setBucketObjectLock } from '../buckets/object-lock.ts'
import type { BucketRecord } from '../buckets/records.ts'
import { setBucketTags } from '../buckets/tags.ts'
import { setBucketLifecycle } from '../lifecycle/rules.ts'
import { setTenantLimits } from '../limits/limits.ts'
import { tenantKeys } from '../tenants/keys.ts'
import { tenantOf } from '../tenants/tenants.ts'
import { setQuota } from '../usage/quota.ts'
import type { BucketSettings, TenantSettings } from './commands.ts'

type Set = () => Accepted<unknown> | Refused

export function restoreBucketSettings(
  draft: Draft,
  bucket: BucketRecord,
  { defaultRetention, policy, cors, lifecycle, tags }: BucketSettings,
  context: ApplyContext,
): Accepted<null> | Refused {
  const { restoring: _, ...free } = bucket
  const { tenantId, name } = bucket
  const to = { tenantId, name }
  draft.put(bucketKeys.bucket(tenantId, name), free)
  const steps: (Set | null)[] = [
    defaultRetention &&
      (() => setBucketObjectLock(draft, { type: 'setBucketObjectLock', ...to, defaultRetention })),
    cors && (() => setBucketCors(draft, { type: 'setBucketCors', ...to, rules: cors }, context)),
    tags && (() => setBucketTags(draft, { type: 'setBucketTags', ...to, tags }, context)),
    lifecycle &&
      (() => setBucketLifecycle(draft, { type: 'setBucketLifecycle', ...to, rules: lifecycle }, context)),
    policy === null
      ? null
      : () => setBucketPolicy(draft, { type: 'setBucketPolicy', ...to, policy }, context),
  ]
  return inTurn(steps)
}

export function restoreTenantSettings(
  draft: Draft,
  tenantId: string,
  { quota, limits }: TenantSettings,
  context: ApplyContext,
): Accepted<null> | Refused {
  const tenant = tenantOf(draft, tenantId)
  if (!tenant.ok) return tenant
  const { restoring: _, ...free } = tenant.value
  draft.put(tenantKeys.tenant(tenantId), free)
  return inTurn([
    quota && (() => setQuota(draft, { type: 'setQuota', tenantId, ...quota }, context)),
    limits && (() => setTenantLimits(draft, { type: 'setTenantLimits', tenantId, limits }, context)),
  ])
}

function inTurn(steps: readonly (Set | null)[]): Accepted<null> | Refused {
  for (const step of steps) {
    const reply = step?.()
    if (reply?.ok === false) return reply
  }
  return accept(null)
}
