/** setBucketVersioning: authorize -> exists -> the state is one -> commit, which knows what may follow what. */
import { S3_ACTIONS } from '../../access/policies/s3-actions.ts'
import { accessKey } from '../../access/rights.ts'
import { settle } from '../../commands/settle.ts'
import type { BucketRecord } from '../../state-machine/buckets/records.ts'
import { dataOperation } from '../base/operation.ts'
import { bucketTarget } from '../base/targets.ts'
import { findBucket } from './find-bucket.ts'
import { versioningState } from './versioning-state.ts'

export const setBucketVersioning = dataOperation(
  {
    id: 'setBucketVersioning',
    requires: accessKey('write', 'whole-bucket'),
    s3Action: S3_ACTIONS.putBucketVersioning,
    refuses: ['invalid_bucket_state'],
    target: bucketTarget,
  },
  async (
    services,
    principal,
    input: { readonly bucket: string; readonly status: string },
  ): Promise<BucketRecord> => {
    const { tenantId, name } = findBucket(services, principal.tenantId, input.bucket)
    const versioning = versioningState(input.status)
    return settle(await services.propose({ type: 'setBucketVersioning', tenantId, name, versioning }))
  },
)
