/** deleteTenantBucketPolicy: authorize -> tenant and bucket exist -> commit; repeating is safe. */
import { adminToken } from '../../access/rights.ts'
import { settle } from '../../commands/settle.ts'
import { adminOperation } from '../base/operation.ts'
import { tenantTarget } from '../base/targets.ts'
import { findBucket } from '../buckets/find-bucket.ts'
import { findTenant } from '../tenants/find-tenant.ts'
import type { TenantBucket } from './get-tenant-bucket-policy.ts'

export const deleteTenantBucketPolicy = adminOperation(
  {
    id: 'deleteTenantBucketPolicy',
    requires: adminToken('owner', 'one-tenant'),
    refuses: [],
    target: tenantTarget,
  },
  async (services, principal, input: TenantBucket): Promise<null> => {
    const { id: tenantId } = findTenant(services, input.id)
    const { name } = findBucket(services, tenantId, input.bucket)
    return settle(await services.propose({ type: 'deleteBucketPolicy', tenantId, name }))
  },
)
