/** getTenantBucketPolicy: authorize -> tenant and bucket exist -> a policy is set, or not_found. */
import { authorize } from '../../access/authorize.ts'
import type { AdminTokenPrincipal } from '../../access/base/principal.ts'
import { Refusal } from '../../base/refusal.ts'
import type { BucketPolicyRecord } from '../../state-machine/buckets/records.ts'
import { findBucket } from '../buckets/find-bucket.ts'
import type { Services } from '../base/services.ts'
import { findTenant } from '../tenants/find-tenant.ts'

/** As an operator names a bucket. */
export interface TenantBucket {
  /** Of the tenant. */
  readonly id: string
  readonly bucket: string
}

export async function getTenantBucketPolicy(
  services: Services,
  principal: AdminTokenPrincipal,
  input: TenantBucket,
): Promise<BucketPolicyRecord> {
  authorize(principal, 'getTenantBucketPolicy', { tenantId: input.id })
  const tenant = findTenant(services, input.id)
  const { name } = findBucket(services, tenant.id, input.bucket)
  const policy = services.state.bucketPolicy(tenant.id, name)
  if (policy === undefined) throw new Refusal('not_found', `Bucket "${name}" has no policy`)
  return policy
}
