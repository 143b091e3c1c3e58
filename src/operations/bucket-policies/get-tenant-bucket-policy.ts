/** getTenantBucketPolicy: authorize -> tenant and bucket exist -> a policy is set, or not_found. */
import { adminToken } from '../../access/rights.ts'
import type { BucketPolicyRecord } from '../../state-machine/buckets/records.ts'
import { adminOperation } from '../base/operation.ts'
import { tenantTarget } from '../base/targets.ts'
import { findBucket } from '../buckets/find-bucket.ts'
import { findTenant } from '../tenants/find-tenant.ts'
import { storedPolicy } from './bucket-policy.ts'

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
    const { name: bucket } = findBucket(services, tenant.id, input.bucket)
    return storedPolicy(services, { tenantId: tenant.id, bucket })
  },
)
