/**
 * getBucketUsage: authorize -> exists -> what the bucket row counts.
 *
 * Owns: the figures, and who may see them beside the buckets of a listing. Rules: no object is counted on request, as each figure changes in the entry that changes
 * what it counts; the figures are of the whole bucket, so a key that is limited to a prefix does not see them.
 */
import { authorize } from '../../access/authorize.ts'
import type { AccessKeyPrincipal } from '../../access/base/principal.ts'
import { S3_ACTIONS } from '../../access/policies/s3-actions.ts'
import { accessKey } from '../../access/rights.ts'
import { refusalOf } from '../../base/refusal.ts'
import type { BucketRecord } from '../../state-machine/buckets/records.ts'
import { dataOperation } from '../base/operation.ts'
import type { Services } from '../base/services.ts'
import { bucketTarget } from '../base/targets.ts'
import { findBucket } from './find-bucket.ts'

/** Bytes are plain bytes; equal ones count as often as they are stored by name. */
export interface BucketUsage {
  /** Keys whose newest version is no delete marker. */
  readonly objects: number
  /** All versions, the newest ones too; no delete markers. */
  readonly versions: number
  readonly deleteMarkers: number
  /** Of all versions. */
  readonly logicalBytes: number
  /** Unfinished ones. */
  readonly multipartUploads: number
  /** Of their parts. */
  readonly multipartBytes: number
}

export interface BucketUsageReport extends BucketUsage {
  readonly bucket: string
  /** Ms since 1970, by the time of the log. */
  readonly asOf: number
}

function usageOfBucket(bucket: BucketRecord): BucketUsage {
  return {
    objects: bucket.objectCount,
    versions: bucket.versionCount,
    deleteMarkers: bucket.deleteMarkerCount,
    logicalBytes: bucket.logicalBytes,
    multipartUploads: bucket.uploadCount,
    multipartBytes: bucket.uploadBytes,
  }
}

/** All figures are of one moment. Refuses with not_found where there is no such bucket. */
export const getBucketUsage = dataOperation(
  {
    id: 'getBucketUsage',
    requires: accessKey('read', 'whole-bucket'),
    s3Action: S3_ACTIONS.headBucket,
    refuses: [],
    target: bucketTarget,
  },
  async (services, principal, input: { readonly bucket: string }): Promise<BucketUsageReport> => {
    const bucket = findBucket(services, principal.tenantId, input.bucket)
    return { bucket: bucket.name, asOf: services.cluster.time.now(), ...usageOfBucket(bucket) }
  },
)

/** What a listing shows of a bucket: nothing where `getBucketUsage` would be refused. */
export function visibleUsage(
  { state }: Pick<Services, 'state'>,
  principal: AccessKeyPrincipal,
  bucket: BucketRecord,
): BucketUsage | null {
  const target = bucketTarget({ bucket: bucket.name })
  const refusal = refusalOf(() => authorize(principal, getBucketUsage, target, state))
  return refusal === null ? usageOfBucket(bucket) : null
}
