/**
 * setBucketPolicy, of the tenant itself: authorize -> exists -> it makes nothing public -> as from the admin plane.
 *
 * Rule: a statement that allows something to every caller is refused: it would have no effect here, and who sends it relies on it. It is the refusal of S3 where the public
 * access block of a bucket is on, as it always is here. [AWS S3 API: PutBucketPolicy, PublicAccessBlockConfiguration]
 */
import { readBucketPolicy, type Statement } from '../../access/policies/bucket-policy.ts'
import { S3_ACTIONS } from '../../access/policies/s3-actions.ts'
import { accessKey } from '../../access/rights.ts'
import { Refusal } from '../../base/refusal.ts'
import type { BucketPolicyRecord } from '../../state-machine/buckets/records.ts'
import { dataOperation } from '../base/operation.ts'
import { bucketTarget } from '../base/targets.ts'
import { findBucket } from '../buckets/find-bucket.ts'
import { storePolicy } from './bucket-policy.ts'

interface SetPolicyInput {
  readonly bucket: string
  readonly policy: object
}

export const setBucketPolicy = dataOperation(
  {
    id: 'setBucketPolicy',
    requires: accessKey('admin', 'whole-bucket'),
    s3Action: S3_ACTIONS.putBucketPolicy,
    refuses: ['precondition_failed'],
    target: bucketTarget,
  },
  async (services, principal, input: SetPolicyInput): Promise<BucketPolicyRecord> => {
    const { tenantId, name: bucket } = findBucket(services, principal.tenantId, input.bucket)
    const place = { tenantId, bucket }
    if (readBucketPolicy(input.policy, place).statements.some(isPublic))
      throw new Refusal(
        'access_denied',
        'The bucket policy is not accepted: a statement allows something to every caller, and nothing here is public; what a key may do is said by its scopes',
      )
    return storePolicy(services, principal, place, input.policy)
  },
)

function isPublic({ effect, principals }: Statement): boolean {
  return effect === 'Allow' && (principals.isNegated || principals.patterns.includes('*'))
}
