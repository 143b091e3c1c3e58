/** deleteTenantBucketPolicy: authorize -> tenant and bucket exist -> second approval, by setting, of what lifts a denial -> commit; repeating is safe. */
import { adminToken } from '../../access/rights.ts'
import { adminOperation } from '../base/operation.ts'
import { tenantTarget } from '../base/targets.ts'
import { findBucket } from '../buckets/find-bucket.ts'
import { findTenant } from '../tenants/find-tenant.ts'
import { removePolicy } from './bucket-policy.ts'
import type { TenantBucket } from './get-tenant-bucket-policy.ts'

export const deleteTenantBucketPolicy = adminOperation(
  {
    id: 'deleteTenantBucketPolicy',
    requires: adminToken('owner', 'one-tenant'),
    refuses: ['precondition_failed'],
    target: tenantTarget,
  },
  async (services, principal, input: TenantBucket): Promise<null> => {
    const { id: tenantId } = findTenant(services, input.id)
    const { name: bucket } = findBucket(services, tenantId, input.bucket)
    return removePolicy(services, principal, { tenantId, bucket })
  },
)
