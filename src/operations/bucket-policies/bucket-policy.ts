/**
 * The policy of a bucket, read and changed the same way from both planes, once the caller is authorized.
 *
 * Owns: the order: the policy is one -> the keys that it names exist -> second approval, by setting, of what lifts a denial -> commit. Knows nothing of: who may;
 * the operations of each plane say so. Rule: a key id that the tenant does not have is refused: a misspelt denial would deny no key.
 */
import type { AccessKeyPrincipal, AdminTokenPrincipal } from '../../access/base/principal.ts'
import { accessKeysIn, type PolicyPlace, readBucketPolicy } from '../../access/policies/bucket-policy.ts'
import { Refusal } from '../../base/refusal.ts'
import { settle } from '../../commands/settle.ts'
import { bucketPolicyOf } from '../../state-machine/buckets/bucket-policies.ts'
import type { BucketPolicyRecord } from '../../state-machine/buckets/records.ts'
import { tenantKeys } from '../../state-machine/tenants/keys.ts'
import { secondApproval } from '../approvals/second-approval.ts'
import type { Services } from '../base/services.ts'
import { liftsDenials } from './lifted-denials.ts'

type Caller = AccessKeyPrincipal | AdminTokenPrincipal

/** Throws Refusal not_found. */
export function storedPolicy({ state }: Services, { tenantId, bucket }: PolicyPlace): BucketPolicyRecord {
  const policy = bucketPolicyOf(state, tenantId, bucket)
  if (policy !== undefined) return policy
  throw new Refusal('not_found', `Bucket "${bucket}" has no policy`, { missing: 'bucketPolicy' })
}

/** Throws Refusal invalid_request, precondition_failed with the blocker `approval_required`, and Condition. */
export async function storePolicy(
  services: Services,
  caller: Caller,
  { tenantId, bucket }: PolicyPlace,
  policy: object,
): Promise<BucketPolicyRecord> {
  for (const accessKeyId of accessKeysIn(readBucketPolicy(policy, { tenantId, bucket })))
    if (services.state.get(tenantKeys.accessKey(accessKeyId))?.tenantId !== tenantId)
      throw new Refusal(
        'invalid_request',
        `The bucket policy is not accepted: it names access key "${accessKeyId}", which tenant "${tenantId}" does not have`,
      )
  const text = JSON.stringify(policy)
  const command = { type: 'setBucketPolicy', tenantId, name: bucket, policy: text } as const
  const approval = liftsDenials(services.state, { tenantId, bucket }, policy)
    ? await secondApproval(services, caller, 'lower_locks', command)
    : {}
  return settle(await services.propose({ ...command, ...approval }))
}

/** Repeating is safe. Throws as storePolicy. */
export async function removePolicy(
  services: Services,
  caller: Caller,
  { tenantId, bucket }: PolicyPlace,
): Promise<null> {
  const command = { type: 'deleteBucketPolicy', tenantId, name: bucket } as const
  const approval = liftsDenials(services.state, { tenantId, bucket }, null)
    ? await secondApproval(services, caller, 'lower_locks', command)
    : {}
  return settle(await services.propose({ ...command, ...approval }))
}
