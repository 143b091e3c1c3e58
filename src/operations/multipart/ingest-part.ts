/**
 * The bytes of a part, from wherever they come: size -> quota -> bytes durable -> part committed.
 *
 * Rule: as for a put, everything that needs no body is settled before the first byte is read, and the part is named only
 * once its bytes are durable and every digest holds. The size is bounded while the body streams, regardless of the announced size.
 */
import type { KeyObject } from 'node:crypto'
import type { AccessKeyPrincipal } from '../../access/base/principal.ts'
import { Refusal } from '../../base/refusal.ts'
import { settle } from '../../commands/settle.ts'
import type { IngestRequest } from '../../content/content.ts'
import type { PartRecord } from '../../state-machine/bodies/records.ts'
import { findPart } from '../../state-machine/bodies/upload-parts.ts'
import type { CopySource } from '../../state-machine/objects/commands.ts'
import type { UploadRecord } from '../../state-machine/objects/records.ts'
import type { TenantRecord } from '../../state-machine/tenants/records.ts'
import { PART_BYTES_MAX } from '../../state-machine/objects/limits.ts'
import { quotaFault } from '../../state-machine/usage/quota.ts'
import { commitBody } from '../base/commit-body.ts'
import type { Services } from '../base/services.ts'
import { uploadCallerOf } from '../base/upload-caller.ts'
import { findTenant } from '../tenants/find-tenant.ts'
import type { FoundUpload } from './find-upload.ts'

export interface PartBytes
  extends Pick<IngestRequest, 'source' | 'expectedSize' | 'claimed' | 'trailing' | 'etag' | 'signal'> {
  readonly partNumber: number
  /** Of the upload, where it was created with one. */
  readonly customerKey?: KeyObject | undefined
  /** The version whose bytes they are. Absent: a client sends them. */
  readonly copied?: CopySource
}

/** Throws Refusal entity_too_large, quota_exceeded, and what the body is refused for. */
export async function ingestPart(
  services: Services,
  principal: AccessKeyPrincipal,
  found: FoundUpload,
  part: PartBytes,
): Promise<PartRecord> {
  const { partNumber, copied, customerKey, ...request } = part
  const { expectedSize, signal } = request
  const { bucket, upload } = found
  const sizeMax = Math.min(PART_BYTES_MAX, services.config.limits.objectPutBytesMax)
  if (expectedSize !== null && expectedSize > sizeMax)
    throw new Refusal(
      'entity_too_large',
      `Cannot store part ${partNumber}: ${expectedSize} bytes are more than the ${sizeMax} of one part`,
    )
  const tenant = findTenant(services, principal.tenantId)
  const customer = customerOfUpload(services, { tenant, upload }, customerKey)
  checkQuota(services, found, part)
  const { checksumAlg } = upload
  const wanted = checksumAlg === null ? [] : [checksumAlg]
  const caller = uploadCallerOf(principal)
  const ingested = await services.content.ingest({ ...request, tenant, caller, customer, sizeMax, wanted })
  const { key, uploadId } = upload
  const name = { tenantId: tenant.id, bucket: bucket.name, key, uploadId, partNumber }
  const origin = copied === undefined ? {} : { source: copied }
  const reply = await commitBody(
    ingested,
    (stored) => services.propose({ type: 'putPart', ...name, ...stored, ...origin }),
    signal,
  )
  return settle(reply)
}

/** Undefined: the upload was created without one. Throws Refusal invalid_request where the key is not the one that it was created with. */
export function customerOfUpload(
  { content }: Services,
  { tenant, upload }: { readonly tenant: TenantRecord; readonly upload: UploadRecord },
  key: KeyObject | undefined,
): IngestRequest['customer'] {
  try {
    content.checkCustomerKey(tenant, key, upload)
  } catch (cause) {
    if (!(cause instanceof Refusal) || cause.code !== 'access_denied') throw cause
    throw new Refusal(
      'invalid_request',
      'The key of the client is another one than the upload was created with',
      {
        cause,
      },
    )
  }
  const { customerSeal: seal } = upload
  return key === undefined || seal === undefined ? undefined : { key, seal }
}

/** The commit decides; here a client is refused before it has sent gigabytes. */
function checkQuota(
  services: Services,
  { bucket, upload }: FoundUpload,
  { partNumber, expectedSize }: PartBytes,
): void {
  const { state } = services
  const replaced = findPart(state, { bucketId: bucket.id, uploadId: upload.uploadId }, partNumber)?.size ?? 0
  // What comes in chunks has at least one byte, or nothing to store.
  const bytes = (expectedSize ?? 1) - replaced
  const fault = quotaFault(state, bucket.tenantId, { bytes, objects: 0 })
  if (fault !== null) throw new Refusal(fault.code, fault.message)
}
