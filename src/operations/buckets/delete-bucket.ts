/**
 * deleteBucket: authorize -> exists -> the uploads of a bucket that holds nothing else end, where the caller asks for it -> commit; that the
 * bucket is empty is decided in the commit.
 */
import { S3_ACTIONS } from '../../access/policies/s3-actions.ts'
import type { AccessKeyPrincipal } from '../../access/base/principal.ts'
import { accessKey } from '../../access/rights.ts'
import { settle } from '../../commands/settle.ts'
import type { BucketRecord } from '../../state-machine/buckets/records.ts'
import { pageOfUploads } from '../../store/reads/upload-listing.ts'
import { dataOperation } from '../base/operation.ts'
import type { Services } from '../base/services.ts'
import { bucketTarget } from '../base/targets.ts'
import { findBucket } from './find-bucket.ts'

/** With more of them the bucket is not empty, and the request may be made again. */
const UPLOADS_ENDED_MAX = 1000

interface DeleteBucketInput {
  readonly bucket: string
  /** As in S3, where an unfinished upload does not keep a bucket. Absent: it does. */
  readonly endsUploads?: boolean
}

export const deleteBucket = dataOperation(
  {
    id: 'deleteBucket',
    requires: accessKey('delete', 'whole-bucket'),
    s3Action: S3_ACTIONS.deleteBucket,
    refuses: ['bucket_not_empty'],
    target: bucketTarget,
  },
  async (services, principal, input: DeleteBucketInput): Promise<void> => {
    const { tenantId } = principal
    const bucket = findBucket(services, tenantId, input.bucket)
    if (input.endsUploads === true && holdsUploadsAlone(bucket)) await endUploads(services, principal, bucket)
    settle(await services.propose({ type: 'deleteBucket', tenantId, name: bucket.name }))
  },
)

function holdsUploadsAlone({ versionCount, deleteMarkerCount, uploadCount }: BucketRecord): boolean {
  return uploadCount > 0 && versionCount === 0 && deleteMarkerCount === 0
}

async function endUploads(
  services: Services,
  { tenantId }: AccessKeyPrincipal,
  { id, name: bucket }: BucketRecord,
): Promise<void> {
  const everything = { prefix: '', delimiter: '', keyMarker: '', uploadIdMarker: '' }
  const { uploads } = await pageOfUploads(services.state, id, { ...everything, limit: UPLOADS_ENDED_MAX })
  for (const { key, uploadId } of uploads) {
    const reply = await services.propose({ type: 'abortUpload', tenantId, bucket, key, uploadId })
    // Completed or aborted since: the commit of the deletion decides.
    if (reply.ok || reply.code !== 'not_found') settle(reply)
  }
}
