/**
 * abortMultipartUpload: the ladder -> commit. An upload that is not there is given up already: repeating
 * is safe. Its parts are released in the background.
 */
import type { AccessKeyPrincipal } from '../../access/base/principal.ts'
import { keyFor } from '../objects/object-checks.ts'
import type { Services } from '../base/services.ts'
import { settle } from '../../commands/settle.ts'
import { openUpload, type UploadName } from './find-upload.ts'

export async function abortMultipartUpload(
  services: Services,
  principal: AccessKeyPrincipal,
  input: UploadName,
): Promise<void> {
  const { tenantId } = principal
  const { uploadId } = input
  const found = keyFor(services, { principal, operationId: 'abortMultipartUpload' }, input)
  if (openUpload(services, found, uploadId) === null) return
  const { bucket, key } = found
  settle(await services.propose({ type: 'abortUpload', tenantId, bucket: bucket.name, key, uploadId }))
}
