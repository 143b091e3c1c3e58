/**
 * listParts: the ladder -> upload exists -> one page of its parts, by their numbers.
 */
import type { AccessKeyPrincipal } from '../../access/base/principal.ts'
import { PARTS_MAX } from '../../state-machine/objects/limits.ts'
import type { PartsPage } from '../../store/reads/state-reader.ts'
import { clampPageSize } from '../base/page-size.ts'
import type { Services } from '../base/services.ts'
import { findUpload, type UploadName } from './find-upload.ts'

interface ListPartsInput extends UploadName {
  readonly maxParts: number | undefined
  readonly partNumberMarker: number | undefined
}

export interface PartListing extends PartsPage {
  readonly maxParts: number
  readonly partNumberMarker: number
}

export async function listParts(
  services: Services,
  principal: AccessKeyPrincipal,
  input: ListPartsInput,
): Promise<PartListing> {
  const { bucket, upload } = findUpload(services, { principal, operationId: 'listParts' }, input)
  const maxParts = clampPageSize(input.maxParts)
  const partNumberMarker = Math.min(Math.max(input.partNumberMarker ?? 0, 0), PARTS_MAX)
  const page = await services.state.parts(bucket.id, upload.uploadId, partNumberMarker, maxParts)
  return { ...page, maxParts, partNumberMarker }
}
