/**
 * abortMultipartUpload: authorize -> bucket exists -> commit. An upload that is not there is given up already: repeating
 * is safe. Its parts are released in the background.
 */
import { authorize } from '../../access/authorize.ts'
import type { AccessKeyPrincipal } from '../../access/principal.ts'
import { findBucket } from '../buckets/find-bucket.ts'
import type { Services } from '../services.ts'
import { settle } from '../settle.ts'
import { openUpload, type UploadName } from './find-upload.ts'

export async function abortMultipartUpload(
  services: Services,
  principal: AccessKeyPrincipal,
  input: UploadName,
): Promise<void> {
  const { tenantId } = principal
  const { key, uploadId } = input
  authorize(principal, 'abortMultipartUpload', { bucket: input.bucket, key })
  const bucket = findBucket(services, tenantId, input.bucket)
  if (openUpload(services, bucket, input) === null) return
  settle(await services.propose({ type: 'abortUpload', tenantId, bucket: bucket.name, key, uploadId }))
}
