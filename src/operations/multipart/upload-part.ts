/**
 * uploadPart: authorize -> bucket exists -> key is valid -> upload exists -> the steps of ingest-part.ts.
 */
import { S3_ACTIONS } from '../../access/policies/s3-actions.ts'
import { accessKey } from '../../access/rights.ts'
import type { PartRecord } from '../../state-machine/bodies/records.ts'
import { dataOperation } from '../base/operation.ts'
import { keyTarget } from '../base/targets.ts'
import { findUpload, type UploadName } from './find-upload.ts'
import { ingestPart, type PartBytes } from './ingest-part.ts'

/** `source` is not touched before every check that needs no body has passed. */
type UploadPartInput = UploadName & PartBytes

export const uploadPart = dataOperation(
  {
    id: 'uploadPart',
    requires: accessKey('write', 'key'),
    s3Action: S3_ACTIONS.putObject,
    refuses: [],
    target: keyTarget,
  },
  async (services, principal, input: UploadPartInput): Promise<PartRecord> => {
    const { partNumber, customerKey, source, expectedSize, claimed, trailing, etag, signal } = input
    const found = findUpload(services, principal, input)
    const part = { partNumber, customerKey, source, expectedSize, claimed, trailing, etag, signal }
    return ingestPart(services, principal, found, part)
  },
)
