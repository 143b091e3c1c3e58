/** setBucketTags: authorize -> exists -> tags are good -> commit; all tags are replaced. [AWS S3 API: PutBucketTagging] */
import { S3_ACTIONS } from '../../access/policies/s3-actions.ts'
import { accessKey } from '../../access/rights.ts'
import { settle } from '../../commands/settle.ts'
import type { BucketTagsRecord } from '../../state-machine/buckets/records.ts'
import { dataOperation } from '../base/operation.ts'
import { checkBucketTags } from '../base/tags.ts'
import { bucketTarget } from '../base/targets.ts'
import { findBucket } from './find-bucket.ts'

interface SetBucketTagsInput {
  readonly bucket: string
  readonly tags: readonly (readonly [name: string, value: string])[]
}

export const setBucketTags = dataOperation(
  {
    id: 'setBucketTags',
    requires: accessKey('write', 'whole-bucket'),
    s3Action: S3_ACTIONS.putBucketTagging,
    refuses: ['invalid_tag', 'quota_exceeded'],
    target: bucketTarget,
  },
  async (services, principal, input: SetBucketTagsInput): Promise<BucketTagsRecord> => {
    const { tenantId, name } = findBucket(services, principal.tenantId, input.bucket)
    const tags = checkBucketTags(input.tags)
    return settle(await services.propose({ type: 'setBucketTags', tenantId, name, tags }))
  },
)
