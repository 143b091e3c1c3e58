/**
 * listParts: authorize -> bucket exists -> key is valid -> upload exists -> one page of its parts, by their numbers.
 */
import { S3_ACTIONS } from '../../access/policies/s3-actions.ts'
import { accessKey } from '../../access/rights.ts'
import type { UploadRecord } from '../../state-machine/objects/records.ts'
import { PARTS_MAX } from '../../state-machine/objects/limits.ts'
import { pageOfParts, type PartsPage } from '../../store/reads/part-listing.ts'
import { dataOperation } from '../base/operation.ts'
import { clampPageSize } from '../base/page-size.ts'
import { keyTarget } from '../base/targets.ts'
import { findUpload, type UploadName } from './find-upload.ts'

interface ListPartsInput extends UploadName {
  readonly maxParts: number | undefined
  readonly partNumberMarker: number | undefined
}

export interface PartListing extends PartsPage {
  readonly upload: UploadRecord
  readonly maxParts: number
  readonly partNumberMarker: number
}

export const listParts = dataOperation(
  {
    id: 'listParts',
    isListing: true,
    requires: accessKey('read', 'key'),
    s3Action: S3_ACTIONS.listMultipartUploadParts,
    refuses: [],
    target: keyTarget,
  },
  async (services, principal, input: ListPartsInput): Promise<PartListing> => {
    const { bucket, upload } = findUpload(services, principal, input)
    const maxParts = clampPageSize(input.maxParts)
    const partNumberMarker = Math.min(Math.max(input.partNumberMarker ?? 0, 0), PARTS_MAX)
    const page = await pageOfParts(
      services.state,
      { bucketId: bucket.id, uploadId: upload.uploadId },
      { after: partNumberMarker, limit: maxParts },
    )
    return { ...page, upload, maxParts, partNumberMarker }
  },
)
