/** deleteBucketTags: authorize -> exists -> commit; that there were none is no error. [AWS S3 API: DeleteBucketTagging] */
import { S3_ACTIONS } from '../../access/policies/s3-actions.ts'
import { accessKey } from '../../access/rights.ts'
import { settle } from '../../commands/settle.ts'
import { dataOperation } from '../base/operation.ts'
import { bucketTarget } from '../base/targets.ts'
import { findBucket } from './find-bucket.ts'

export const deleteBucketTags = dataOperation(
  {
    id: 'deleteBucketTags',
    requires: accessKey('write', 'whole-bucket'),
    s3Action: S3_ACTIONS.putBucketTagging,
    refuses: [],
    target: bucketTarget,
  },
  async (services, principal, input: { readonly bucket: string }): Promise<void> => {
    const { tenantId, name } = findBucket(services, principal.tenantId, input.bucket)
    settle(await services.propose({ type: 'setBucketTags', tenantId, name, tags: {} }))
  },
)
