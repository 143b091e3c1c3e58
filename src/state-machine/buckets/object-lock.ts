/**
 * Object lock of a bucket, and the retention that its new versions get.
 *
 * Owns: `objectLockEnabled` after the creation, and `defaultRetention`, in the row of the bucket. Knows nothing of: the locks of versions;
 * a change of the default never touches a version that exists. Rule: object lock is never switched off.
 */
import { bucketKeys } from './keys.ts'
import type { BucketCommand } from './commands.ts'
import { bucketOf } from './find-bucket.ts'
import {
  type BucketRecord,
  DEFAULT_RETENTION_DAYS_MAX,
  DEFAULT_RETENTION_YEARS_MAX,
  type DefaultRetention,
} from './records.ts'
import type { Draft } from '../base/draft.ts'
import { type Accepted, accept, type Refused, refuse } from '../base/reply.ts'
import { activeTenant } from '../tenants/tenants.ts'

/** Idempotent. [AWS S3 API: PutObjectLockConfiguration] */
export function setBucketObjectLock(
  draft: Draft,
  { tenantId, name, defaultRetention }: Extract<BucketCommand, { type: 'setBucketObjectLock' }>,
): Accepted<BucketRecord> | Refused {
  const tenant = activeTenant(draft, tenantId)
  if (!tenant.ok) return tenant
  const bucket = bucketOf(draft, tenantId, name)
  if (!bucket.ok) return bucket
  if (bucket.value.versioning !== 'Enabled')
    return refuse(
      'invalid_bucket_state',
      `Bucket "${name}" cannot have object lock: its versioning must be "Enabled" first`,
    )
  const fault = defaultRetention === null ? null : defaultRetentionFault(defaultRetention)
  if (fault !== null) return fault
  const { defaultRetention: _, ...plain } = bucket.value
  const locked = { ...plain, objectLockEnabled: true }
  const changed = defaultRetention === null ? locked : { ...locked, defaultRetention }
  draft.put(bucketKeys.bucket(tenantId, name), changed)
  return accept(changed)
}

export function defaultRetentionFault(given: DefaultRetention): Refused | null {
  const { mode } = given
  const [count, unit, max] =
    'days' in given
      ? ([given.days, 'days', DEFAULT_RETENTION_DAYS_MAX] as const)
      : ([given.years, 'years', DEFAULT_RETENTION_YEARS_MAX] as const)
  if (mode !== 'GOVERNANCE' && mode !== 'COMPLIANCE')
    return refuse('invalid_request', 'The default retention has no known mode: give GOVERNANCE or COMPLIANCE')
  if (Number.isSafeInteger(count) && count >= 1 && count <= max) return null
  return refuse('invalid_request', `The default retention lasts ${count} ${unit}: give 1 to ${max}`)
}
