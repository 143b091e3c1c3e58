/**
 * createBucket: authorize -> check the name -> commit.
 *
 * Whether the name is free and the tenant has room for one more is decided in the commit, where nothing can race it.
 */
import { S3_ACTIONS } from '../../access/policies/s3-actions.ts'
import { accessKey } from '../../access/rights.ts'
import { Refusal } from '../../base/refusal.ts'
import { settle } from '../../commands/settle.ts'
import type { BucketRecord } from '../../state-machine/buckets/records.ts'
import { dataOperation } from '../base/operation.ts'
import { newBucketNameFault } from './bucket-name.ts'
import { versioningState } from './versioning-state.ts'

interface CreateBucketInput {
  readonly name: string
  readonly versioning?: string
  readonly objectLockEnabled?: boolean
  /** The source of a replication that makes the bucket. */
  readonly replicaOf?: string
}

export const createBucket = dataOperation(
  {
    id: 'createBucket',
    requires: accessKey('write', 'whole-bucket'),
    s3Action: S3_ACTIONS.createBucket,
    refuses: ['invalid_bucket_name', 'bucket_already_exists', 'invalid_bucket_state', 'quota_exceeded'],
    target: ({ name }: CreateBucketInput) => ({ bucket: name }),
  },
  async (services, principal, input: CreateBucketInput): Promise<BucketRecord> => {
    const fault = newBucketNameFault(input.name)
    if (fault !== null) {
      throw new Refusal('invalid_bucket_name', `Cannot create bucket "${input.name.slice(0, 64)}": ${fault}`)
    }
    const objectLockEnabled = input.objectLockEnabled ?? false
    // Object lock needs versions: they come with it. [decisions 2]
    const versioning = versioningState(input.versioning ?? (objectLockEnabled ? 'Enabled' : 'Unversioned'))
    return settle(
      await services.propose({
        type: 'createBucket',
        tenantId: principal.tenantId,
        name: input.name,
        bucketsMax: services.config.limits.bucketsPerTenantMax,
        versioning,
        objectLockEnabled,
        ...(input.replicaOf === undefined ? {} : { replicaOf: input.replicaOf }),
      }),
    )
  },
)
