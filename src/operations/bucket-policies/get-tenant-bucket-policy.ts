/** getTenantBucketPolicy: authorize -> tenant and bucket exist -> a policy is set, or not_found. */
import { adminToken } from '../../access/rights.ts'
import { Refusal } from '../../base/refusal.ts'
import type { BucketPolicyRecord } from '../../state-machine/buckets/records.ts'
import { adminOperation } from '../base/operation.ts'
import { tenantTarget } from '../base/targets.ts'
import { findBucket } from '../buckets/find-bucket.ts'
import { findTenant } from '../tenants/find-tenant.ts'
import { bucketPolicyOf } from '../../state-machine/buckets/bucket-policies.ts'

/** As an operator names a bucket. */
export interface TenantBucket {
  /** Of the tenant. */
  readonly id: string
  readonly bucket: string
}

export const getTenantBucketPolicy = adminOperation(
  {
    id: 'getTenantBucketPolicy',
    requires: adminToken('owner', 'one-tenant'),
    refuses: [],
    target: tenantTarget,
  },
  async (services, principal, input: TenantBucket): Promise<BucketPolicyRecord> => {
    const tenant = findTenant(services, input.id)
    const { name } = findBucket(services, tenant.id, input.bucket)
    const policy = bucketPolicyOf(services.state, tenant.id, name)
    if (policy === undefined)
      throw new Refusal('not_found', `Bucket "${name}" has no policy`, { missing: 'bucketPolicy' })
    return policy
  },
)
