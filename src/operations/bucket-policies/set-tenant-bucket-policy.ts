/**
 * setTenantBucketPolicy: authorize -> tenant and bucket exist -> the policy is one -> the keys it names exist -> second approval, by setting,
 * of what lifts a denial -> commit.
 */
import { adminToken } from '../../access/rights.ts'
import type { BucketPolicyRecord } from '../../state-machine/buckets/records.ts'
import { adminOperation } from '../base/operation.ts'
import { tenantTarget } from '../base/targets.ts'
import { findBucket } from '../buckets/find-bucket.ts'
import { findTenant } from '../tenants/find-tenant.ts'
import { storePolicy } from './bucket-policy.ts'
import type { TenantBucket } from './get-tenant-bucket-policy.ts'

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
    const { name: bucket } = findBucket(services, tenantId, input.bucket)
    return storePolicy(services, principal, { tenantId, bucket }, input.policy)
  },
)
