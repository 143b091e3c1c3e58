/** deleteBucket: authorize -> exists -> commit; that it is empty is decided in the commit. */
import { S3_ACTIONS } from '../../access/policies/s3-actions.ts'
import { accessKey } from '../../access/rights.ts'
import { settle } from '../../commands/settle.ts'
import { dataOperation } from '../base/operation.ts'
import { bucketTarget } from '../base/targets.ts'
import { findBucket } from './find-bucket.ts'

export const deleteBucket = dataOperation(
  {
    id: 'deleteBucket',
    requires: accessKey('delete', 'whole-bucket'),
    s3Action: S3_ACTIONS.deleteBucket,
    refuses: ['bucket_not_empty'],
    target: bucketTarget,
  },
  async (services, principal, input: { readonly bucket: string }): Promise<void> => {
    const { name } = findBucket(services, principal.tenantId, input.bucket)
    settle(await services.propose({ type: 'deleteBucket', tenantId: principal.tenantId, name }))
  },
)
