/**
 * abortMultipartUpload: authorize -> bucket exists -> key is valid -> commit. An upload that does not exist is aborted already: repeating
 * is safe. Its parts are released in the background.
 */
import { S3_ACTIONS } from '../../access/policies/s3-actions.ts'
import { accessKey } from '../../access/rights.ts'
import { settle } from '../../commands/settle.ts'
import { dataOperation } from '../base/operation.ts'
import { keyTarget } from '../base/targets.ts'
import { findKey } from '../objects/object-checks.ts'
import { openUpload, type UploadName } from './find-upload.ts'

export const abortMultipartUpload = dataOperation(
  {
    id: 'abortMultipartUpload',
    requires: accessKey('write', 'key'),
    s3Action: S3_ACTIONS.abortMultipartUpload,
    refuses: [],
    target: keyTarget,
  },
  async (services, principal, input: UploadName): Promise<{ readonly existed: boolean }> => {
    const { tenantId } = principal
    const { uploadId } = input
    const found = findKey(services, principal, input)
    if (openUpload(services, found, uploadId) === null) return { existed: false }
    const { bucket, key } = found
    settle(await services.propose({ type: 'abortUpload', tenantId, bucket: bucket.name, key, uploadId }))
    return { existed: true }
  },
)
