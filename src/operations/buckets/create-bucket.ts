/**
 * createBucket: authorize -> check the name -> commit.
 *
 * Whether the name is free and the tenant has room for one more is decided in the commit, where nothing can race it.
 */
import { authorize } from '../../access/authorize.ts'
import type { AccessKeyPrincipal } from '../../access/base/principal.ts'
import { Refusal } from '../../base/refusal.ts'
import type { BucketRecord } from '../../state-machine/buckets/records.ts'
import type { Services } from '../base/services.ts'
import { settle } from '../../commands/settle.ts'
import { bucketNameFault } from './bucket-name.ts'
import { versioningState } from './versioning-state.ts'

interface CreateBucketInput {
  readonly name: string
  readonly versioning?: string
  readonly objectLockEnabled?: boolean
}

export async function createBucket(
  services: Services,
  principal: AccessKeyPrincipal,
  input: CreateBucketInput,
): Promise<BucketRecord> {
  authorize(principal, 'createBucket', { bucket: input.name }, services.state)
  const fault = bucketNameFault(input.name)
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
    }),
  )
}
