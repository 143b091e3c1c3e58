/**
 * The short operations on the replication of a bucket: look-up, removal, resync.
 */
import { S3_ACTIONS } from '../../access/policies/s3-actions.ts'
import { accessKey } from '../../access/rights.ts'
import { settle } from '../../commands/settle.ts'
import type { SiteRecord, SiteStateRecord } from '../../state-machine/sites/records.ts'
import { dataOperation } from '../base/operation.ts'
import { bucketTarget } from '../base/targets.ts'
import { findBucket } from '../buckets/find-bucket.ts'
import { findReplication } from './replicated-bucket.ts'

interface Named {
  readonly bucket: string
}

/** authorize -> exists -> the configuration; without one it is not_found. */
export const getBucketReplication = dataOperation(
  {
    id: 'getBucketReplication',
    requires: accessKey('admin', 'whole-bucket'),
    s3Action: S3_ACTIONS.getReplication,
    refuses: [],
    target: bucketTarget,
  },
  async (services, principal, input: Named): Promise<SiteRecord> =>
    findReplication(services, principal.tenantId, input.bucket).site,
)

/** authorize -> exists -> commit; that there was none is no error. */
export const deleteBucketReplication = dataOperation(
  {
    id: 'deleteBucketReplication',
    requires: accessKey('admin', 'whole-bucket'),
    s3Action: S3_ACTIONS.putReplication,
    refuses: ['precondition_failed'],
    target: bucketTarget,
  },
  async (services, principal, input: Named): Promise<void> => {
    const { tenantId, name } = findBucket(services, principal.tenantId, input.bucket)
    settle(await services.propose({ type: 'deleteBucketReplication', tenantId, name }))
  },
)

/** authorize -> exists -> commit: a walk begins, and one that is under way begins over. */
export const resyncBucketReplication = dataOperation(
  {
    id: 'resyncBucketReplication',
    requires: accessKey('admin', 'whole-bucket'),
    s3Action: S3_ACTIONS.putReplication,
    refuses: ['precondition_failed'],
    target: bucketTarget,
  },
  async (services, principal, input: Named): Promise<SiteStateRecord> => {
    const { tenantId, name } = findReplication(services, principal.tenantId, input.bucket).bucket
    return settle(await services.propose({ type: 'startResync', tenantId, name }))
  },
)
