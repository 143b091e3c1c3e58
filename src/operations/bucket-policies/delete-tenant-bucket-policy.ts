/** deleteTenantBucketPolicy: authorize -> tenant and bucket exist -> commit; repeating is safe. */
import { authorize } from '../../access/authorize.ts'
import type { AdminTokenPrincipal } from '../../access/base/principal.ts'
import { findBucket } from '../buckets/find-bucket.ts'
import type { Services } from '../base/services.ts'
import { settle } from '../../commands/settle.ts'
import { findTenant } from '../tenants/find-tenant.ts'
import type { TenantBucket } from './get-tenant-bucket-policy.ts'

export async function deleteTenantBucketPolicy(
  services: Services,
  principal: AdminTokenPrincipal,
  input: TenantBucket,
): Promise<null> {
  authorize(principal, 'deleteTenantBucketPolicy', { tenantId: input.id })
  const { id: tenantId } = findTenant(services, input.id)
  const { name } = findBucket(services, tenantId, input.bucket)
  return settle(await services.propose({ type: 'deleteBucketPolicy', tenantId, name }))
}
