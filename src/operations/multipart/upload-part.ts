/**
 * uploadPart: authorize -> bucket exists -> key is valid -> upload exists -> size -> quota -> bytes durable -> part committed.
 *
 * Rule: as for a put, everything that needs no body is settled before the first byte is read, and the part is named only
 * once its bytes are durable and every digest holds. The size is bounded while the body streams, regardless of the announced size.
 */
import { S3_ACTIONS } from '../../access/policies/s3-actions.ts'
import { accessKey } from '../../access/rights.ts'
import { Refusal } from '../../base/refusal.ts'
import { settle } from '../../commands/settle.ts'
import type { Claims, TrailingClaims } from '../../content/checksums.ts'
import type { BodySource } from '../../content/content.ts'
import type { PartRecord } from '../../state-machine/bodies/records.ts'
import { PART_BYTES_MAX } from '../../state-machine/objects/limits.ts'
import { quotaFault } from '../../state-machine/usage/quota.ts'
import { commitBody } from '../base/commit-body.ts'
import { dataOperation } from '../base/operation.ts'
import type { Services } from '../base/services.ts'
import { keyTarget } from '../base/targets.ts'
import { uploadCallerOf } from '../base/upload-caller.ts'
import { findTenant } from '../tenants/find-tenant.ts'
import { findUpload, type FoundUpload, type UploadName } from './find-upload.ts'
import { findPart } from '../../state-machine/bodies/upload-parts.ts'

interface UploadPartInput extends UploadName {
  readonly partNumber: number
  readonly claimed: Claims
  readonly trailing?: TrailingClaims | undefined
  /** null when the client did not say. */
  readonly expectedSize: number | null
  /** Not touched before every check that needs no body has passed. */
  readonly source: BodySource
  readonly signal: AbortSignal
}

export const uploadPart = dataOperation(
  {
    id: 'uploadPart',
    requires: accessKey('write', 'key'),
    s3Action: S3_ACTIONS.putObject,
    refuses: [],
    target: keyTarget,
  },
  async (services, principal, input: UploadPartInput): Promise<PartRecord> => {
    const { tenantId } = principal
    const { key, uploadId, partNumber, source, expectedSize, claimed, trailing, signal } = input
    const found = findUpload(services, principal, input)
    const sizeMax = Math.min(PART_BYTES_MAX, services.config.limits.objectPutBytesMax)
    if (expectedSize !== null && expectedSize > sizeMax)
      throw new Refusal(
        'entity_too_large',
        `Cannot store part ${partNumber}: ${expectedSize} bytes are more than the ${sizeMax} of one part`,
      )
    checkQuota(services, found, input)
    const tenant = findTenant(services, tenantId)
    const { checksumAlg } = found.upload
    const wanted = checksumAlg === null ? [] : [checksumAlg]
    const body = { source, expectedSize, sizeMax, claimed, trailing, wanted, signal }
    const ingested = await services.content.ingest({ tenant, caller: uploadCallerOf(principal), ...body })
    const name = { tenantId, bucket: found.bucket.name, key, uploadId, partNumber }
    const reply = await commitBody(
      ingested,
      (stored) => services.propose({ type: 'putPart', ...name, ...stored }),
      signal,
    )
    return settle(reply)
  },
)

/** The commit decides; here a client is refused before it has sent gigabytes. */
function checkQuota(
  services: Services,
  { bucket, upload }: FoundUpload,
  { partNumber, expectedSize }: UploadPartInput,
): void {
  const { state } = services
  const replaced = findPart(state, { bucketId: bucket.id, uploadId: upload.uploadId }, partNumber)?.size ?? 0
  // What comes in chunks has at least one byte, or nothing to store.
  const bytes = (expectedSize ?? 1) - replaced
  const fault = quotaFault(state, bucket.tenantId, { bytes, objects: 0 })
  if (fault !== null) throw new Refusal(fault.code, fault.message)
}
