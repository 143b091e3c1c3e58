/**
 * setTenantBucketPolicy: authorize -> tenant and bucket exist -> the policy is one -> the keys it names exist -> commit.
 *
 * Rule: a key id that the tenant does not have is refused: a denial that is spelt wrong would deny nobody.
 */
import { authorize } from '../../access/authorize.ts'
import { accessKeysIn, readBucketPolicy } from '../../access/policies/bucket-policy.ts'
import type { AdminTokenPrincipal } from '../../access/base/principal.ts'
import { Refusal } from '../../base/refusal.ts'
import type { BucketPolicyRecord } from '../../state-machine/buckets/records.ts'
import { findBucket } from '../buckets/find-bucket.ts'
import type { Services } from '../base/services.ts'
import { settle } from '../../commands/settle.ts'
import { findTenant } from '../tenants/find-tenant.ts'
import type { TenantBucket } from './get-tenant-bucket-policy.ts'

export async function setTenantBucketPolicy(
  services: Services,
  principal: AdminTokenPrincipal,
  input: TenantBucket & { readonly policy: object },
): Promise<BucketPolicyRecord> {
  authorize(principal, 'setTenantBucketPolicy', { tenantId: input.id })
  const { id: tenantId } = findTenant(services, input.id)
  const { name } = findBucket(services, tenantId, input.bucket)
  const policy = readBucketPolicy(input.policy, { tenantId, bucket: name })
  for (const accessKeyId of accessKeysIn(policy))
    if (services.state.accessKey(accessKeyId)?.tenantId !== tenantId)
      throw new Refusal(
        'invalid_request',
        `The bucket policy is not accepted: it names access key "${accessKeyId}", which tenant "${tenantId}" does not have`,
      )
  const text = JSON.stringify(input.policy)
  return settle(await services.propose({ type: 'setBucketPolicy', tenantId, name, policy: text }))
}
