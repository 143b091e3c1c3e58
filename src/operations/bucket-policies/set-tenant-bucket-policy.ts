/**
 * setTenantBucketPolicy: authorize -> tenant and bucket exist -> the policy is one -> the keys it names exist -> second approval, by setting,
 * of what lifts a denial -> commit.
 *
 * Rule: a key id that the tenant does not have is refused: a misspelt denial would deny no key.
 */
import { accessKeysIn, readBucketPolicy } from '../../access/policies/bucket-policy.ts'
import { adminToken } from '../../access/rights.ts'
import { Refusal } from '../../base/refusal.ts'
import { settle } from '../../commands/settle.ts'
import type { BucketPolicyRecord } from '../../state-machine/buckets/records.ts'
import { secondApproval } from '../approvals/second-approval.ts'
import { adminOperation } from '../base/operation.ts'
import { tenantTarget } from '../base/targets.ts'
import { findBucket } from '../buckets/find-bucket.ts'
import { findTenant } from '../tenants/find-tenant.ts'
import { liftsDenials } from './lifted-denials.ts'
import type { TenantBucket } from './get-tenant-bucket-policy.ts'
import { tenantKeys } from '../../state-machine/tenants/keys.ts'

export const setTenantBucketPolicy = adminOperation(
  {
    id: 'setTenantBucketPolicy',
    // A policy concerns only access keys: an owner can take back everything that it denies.
    requires: adminToken('owner', 'one-tenant'),
    refuses: ['precondition_failed'],
    target: tenantTarget,
  },
  async (
    services,
    principal,
    input: TenantBucket & { readonly policy: object },
  ): Promise<BucketPolicyRecord> => {
    const { id: tenantId } = findTenant(services, input.id)
    const { name } = findBucket(services, tenantId, input.bucket)
    const policy = readBucketPolicy(input.policy, { tenantId, bucket: name })
    for (const accessKeyId of accessKeysIn(policy))
      if (services.state.get(tenantKeys.accessKey(accessKeyId))?.tenantId !== tenantId)
        throw new Refusal(
          'invalid_request',
          `The bucket policy is not accepted: it names access key "${accessKeyId}", which tenant "${tenantId}" does not have`,
        )
    const text = JSON.stringify(input.policy)
    const command = { type: 'setBucketPolicy', tenantId, name, policy: text } as const
    const approval = liftsDenials(services.state, { tenantId, bucket: name }, input.policy)
      ? await secondApproval(services, principal, 'lower_locks', command)
      : {}
    return settle(await services.propose({ ...command, ...approval }))
  },
)
