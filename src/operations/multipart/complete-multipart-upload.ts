/**
 * completeMultipartUpload: authorize -> bucket exists -> key is valid -> upload exists -> parts -> checksums -> commit.
 *
 * Owns: what the commit cannot compute, the tag and the checksums of the whole, and whether they are as claimed. Whether the parts are those that are
 * named, and that they become an object once, is decided in apply.
 * Rule: an upload may end at any moment. A part that is not as named is refused here only while the upload is in
 * progress; once it has ended, the answer to its completion counts. [decisions 6]
 */
import type { KeyObject } from 'node:crypto'
import { S3_ACTIONS } from '../../access/policies/s3-actions.ts'
import { accessKey } from '../../access/rights.ts'
import { Refusal } from '../../base/refusal.ts'
import { settle } from '../../commands/settle.ts'
import { verifyClaims } from '../../content/checksums.ts'
import { combinedChecksums } from '../../content/combined-checksums.ts'
import { compositeChecksum, digestOfComposite } from '../../content/composite-checksum.ts'
import { etagOfParts } from '../../content/etag.ts'
import type {
  ChecksumAlgorithm,
  Checksums,
  ChecksumType,
  CompositeChecksum,
} from '../../state-machine/bodies/records.ts'
import type { WritePrecondition } from '../../state-machine/objects/commands.ts'
import type { ObjectRecord } from '../../state-machine/versions/records.ts'
import { dataOperation } from '../base/operation.ts'
import type { Services } from '../base/services.ts'
import { keyTarget } from '../base/targets.ts'
import { findKey, type FoundKey, type FoundObject } from '../objects/object-checks.ts'
import { NEW_VERSION_REFUSALS } from '../objects/refusals.ts'
import { findTenant } from '../tenants/find-tenant.ts'
import { customerOfUpload } from './ingest-part.ts'
import { noSuchUpload, openUpload, type UploadName } from './find-upload.ts'
import { checkPartList, fingerprintOfParts, type NamedPart, namedParts } from './named-parts.ts'
import { isUploadId } from './upload-id.ts'
import { objectKeys } from '../../state-machine/objects/keys.ts'

interface CompleteMultipartUploadInput extends UploadName {
  /** Entity tags with or without quotes. */
  readonly parts: readonly NamedPart[]
  readonly precondition: WritePrecondition
  /** Compared with that of the upload. Undefined: nothing is compared. */
  readonly customerKey?: KeyObject | undefined
  /** Of the whole. */
  readonly claimed: ReadonlyMap<ChecksumAlgorithm, Uint8Array>
  /** How `claimed` was made; null: as the upload was created for. Absent: over all bytes. */
  readonly checksumType?: ChecksumType | null
  /** Bytes of the whole that the client expects. Absent: it does not say. */
  readonly expectedSize?: number
}

export const completeMultipartUpload = dataOperation(
  {
    id: 'completeMultipartUpload',
    requires: accessKey('write', 'key'),
    s3Action: S3_ACTIONS.putObject,
    refuses: [
      ...NEW_VERSION_REFUSALS,
      'checksum_malformed',
      'checksum_unsupported',
      'checksum_mismatch',
      'invalid_part',
      'invalid_part_order',
      'entity_too_small',
    ],
    target: keyTarget,
  },
  async (services, principal, input: CompleteMultipartUploadInput): Promise<FoundObject> => {
    const { tenantId } = principal
    const { uploadId, precondition } = input
    const found = findKey(services, principal, input)
    earlierAnswer(services, found, uploadId)
    const upload = openUpload(services, found, uploadId)
    if (upload !== null && input.customerKey !== undefined)
      customerOfUpload(services, { tenant: findTenant(services, tenantId), upload }, input.customerKey)
    const parts = checkPartList(input.parts)
    const whole = await wholeOf(services, found, { uploadId, parts })
    checkWhole(input, whole)
    const etag = etagOfParts(parts.map((part) => part.etag))
    const { bucket, key } = found
    const reply = await services.propose({
      type: 'completeUpload',
      tenantId,
      bucket: bucket.name,
      key,
      uploadId,
      parts: parts.map(({ partNumber, etag: tag }) => ({ partNumber, etag: tag })),
      fingerprint: fingerprintOfParts(parts),
      etag,
      checksums: whole.checksums,
      ...(whole.composite === null ? {} : { composite: whole.composite }),
      precondition,
    })
    return { bucket, object: settle(reply) }
  },
)

/** What the parts make. */
interface Whole {
  readonly size: number
  readonly checksums: Checksums
  readonly composite: CompositeChecksum | null
}

/** Throws Refusal invalid_request, checksum_mismatch, checksum_unsupported. */
function checkWhole(input: CompleteMultipartUploadInput, whole: Whole): void {
  const { claimed, checksumType, expectedSize = whole.size } = input
  if (expectedSize !== whole.size)
    throw new Refusal(
      'invalid_request',
      `The parts make ${whole.size} bytes, not the expected ${expectedSize}`,
    )
  if (checksumType === undefined) return verifyClaims(claimed, whole.checksums)
  const created = whole.composite === null ? 'FULL_OBJECT' : 'COMPOSITE'
  if (checksumType !== null && checksumType !== created)
    throw new Refusal(
      'invalid_request',
      `The upload was created for the checksum type ${created}, and the request says ${checksumType}`,
    )
  verifyClaims(claimed, whole.composite === null ? whole.checksums : digestOfComposite(whole.composite))
}

/** Null while the upload is under way. Throws Refusal not_found. */
function earlierAnswer(services: Services, found: FoundKey, uploadId: string): ObjectRecord | null {
  if (openUpload(services, found, uploadId) !== null) return null
  const { bucket, key } = found
  const earlier = isUploadId(uploadId)
    ? services.state.get(objectKeys.completed(bucket.id, key, uploadId))
    : undefined
  if (earlier === undefined) throw noSuchUpload({ key, uploadId })
  return earlier.object
}

/** Throws Refusal not_found, invalid_part. */
async function wholeOf(
  services: Services,
  found: FoundKey,
  wanted: { readonly uploadId: string; readonly parts: readonly NamedPart[] },
): Promise<Whole> {
  const upload = openUpload(services, found, wanted.uploadId)
  const named = await namedParts(services, found.bucket.id, wanted)
  // Parts vanish with their upload: another request may have completed it meanwhile, with these very parts.
  const earlier = earlierAnswer(services, found, wanted.uploadId)
  if (earlier !== null) return { ...earlier, composite: earlier.composite ?? null }
  if (named instanceof Refusal) throw named
  if (upload === null) throw noSuchUpload({ key: found.key, uploadId: wanted.uploadId })
  const { checksumAlg, checksumType } = upload
  const isComposite = checksumType === 'COMPOSITE' && checksumAlg !== null
  return {
    size: named.reduce((bytes, part) => bytes + part.size, 0),
    checksums: combinedChecksums(named),
    composite: isComposite ? compositeChecksum(checksumAlg, named) : null,
  }
}
