/**
 * Looks a bucket up in the caller's tenant.
 *
 * Rule: the tenant comes only from the principal, so another tenant's bucket and a missing one are the same answer. [native: 3]
 */
import { Refusal } from '../../base/refusal.ts'
import type { TenantId } from '../../state-machine/base/record-ids.ts'
import type { BucketRecord } from '../../state-machine/buckets/records.ts'
import type { Services } from '../base/services.ts'
import { bucketNameFault } from './bucket-name.ts'
import { bucketKeys } from '../../state-machine/buckets/keys.ts'

export function findBucket(services: Services, tenantId: TenantId, name: string): BucketRecord {
  const bucket =
    bucketNameFault(name) === null ? services.state.get(bucketKeys.bucket(tenantId, name)) : undefined
  if (!bucket)
    throw new Refusal('not_found', `Bucket "${name.slice(0, 64)}" does not exist`, { missing: 'bucket' })
  return bucket
}
