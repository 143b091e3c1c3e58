/**
 * getBucketPolicy and deleteBucketPolicy, of the tenant itself: authorize -> exists -> read, or remove as from the admin plane.
 *
 * Rule: who may read or change a policy has the verb admin over the whole bucket, and no policy that denies it; what a policy denies to every key an owner takes back
 * from the admin plane. [AWS S3 API: GetBucketPolicy, DeleteBucketPolicy]
 */
import { S3_ACTIONS } from '../../access/policies/s3-actions.ts'
import { accessKey } from '../../access/rights.ts'
import type { BucketPolicyRecord } from '../../state-machine/buckets/records.ts'
import { dataOperation } from '../base/operation.ts'
import { bucketTarget } from '../base/targets.ts'
import { findBucket } from '../buckets/find-bucket.ts'
import { removePolicy, storedPolicy } from './bucket-policy.ts'

interface BucketName {
  readonly bucket: string
}

export const getBucketPolicy = dataOperation(
  {
    id: 'getBucketPolicy',
    requires: accessKey('admin', 'whole-bucket'),
    s3Action: S3_ACTIONS.getBucketPolicy,
    refuses: [],
    target: bucketTarget,
  },
  async (services, principal, input: BucketName): Promise<BucketPolicyRecord> => {
    const { tenantId, name: bucket } = findBucket(services, principal.tenantId, input.bucket)
    return storedPolicy(services, { tenantId, bucket })
  },
)

/** Whether its policy makes anything public: never, with one or without. */
export const getBucketPolicyStatus = dataOperation(
  {
    id: 'getBucketPolicyStatus',
    requires: accessKey('admin', 'whole-bucket'),
    s3Action: S3_ACTIONS.getBucketPolicyStatus,
    refuses: [],
    target: bucketTarget,
  },
  async (services, principal, input: BucketName): Promise<{ readonly isPublic: false }> => {
    findBucket(services, principal.tenantId, input.bucket)
    return { isPublic: false }
  },
)

export const deleteBucketPolicy = dataOperation(
  {
    id: 'deleteBucketPolicy',
    requires: accessKey('admin', 'whole-bucket'),
    s3Action: S3_ACTIONS.deleteBucketPolicy,
    refuses: ['precondition_failed'],
    target: bucketTarget,
  },
  async (services, principal, input: BucketName): Promise<null> => {
    const { tenantId, name: bucket } = findBucket(services, principal.tenantId, input.bucket)
    return removePolicy(services, principal, { tenantId, bucket })
  },
)
