/**
 * completeMultipartUpload: authorize -> bucket exists -> key is valid -> upload exists -> parts -> checksums -> commit.
 *
 * Owns: what the commit cannot compute, the tag and the checksums of the whole. Whether the parts are those that are
 * named, and that they become an object once, is decided in apply.
 * Rule: an upload may end at any moment. A part that is not as named is refused here only while the upload is in
 * progress; once it has ended, the answer to its completion counts. [decisions 6]
 */
import { S3_ACTIONS } from '../../access/policies/s3-actions.ts'
import { accessKey } from '../../access/rights.ts'
import { Refusal } from '../../base/refusal.ts'
import { settle } from '../../commands/settle.ts'
import { verifyClaims } from '../../content/checksums.ts'
import { combinedChecksums } from '../../content/combined-checksums.ts'
import { etagOfParts } from '../../content/etag.ts'
import type { ChecksumAlgorithm, Checksums } from '../../state-machine/bodies/records.ts'
import type { WritePrecondition } from '../../state-machine/objects/commands.ts'
import type { ObjectRecord } from '../../state-machine/versions/records.ts'
import { dataOperation } from '../base/operation.ts'
import type { Services } from '../base/services.ts'
import { keyTarget } from '../base/targets.ts'
import { findKey, type FoundKey, type FoundObject } from '../objects/object-checks.ts'
import { NEW_VERSION_REFUSALS } from '../objects/refusals.ts'
import { noSuchUpload, openUpload, type UploadName } from './find-upload.ts'
import { checkPartList, fingerprintOfParts, type NamedPart, namedParts } from './named-parts.ts'
import { isUploadId } from './upload-id.ts'
import { objectKeys } from '../../state-machine/objects/keys.ts'

interface CompleteMultipartUploadInput extends UploadName {
  /** Entity tags with or without quotes. */
  readonly parts: readonly NamedPart[]
  readonly precondition: WritePrecondition
  /** Of the whole. */
  readonly claimed: ReadonlyMap<ChecksumAlgorithm, Uint8Array>
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
    const { uploadId, precondition, claimed } = input
    const found = findKey(services, principal, input)
    earlierAnswer(services, found, uploadId)
    const parts = checkPartList(input.parts)
    const checksums = await checksumsOf(services, found, { uploadId, parts })
    verifyClaims(claimed, checksums)
    const etag = etagOfParts(parts.map((part) => part.etag))
    const { bucket, key } = found
    const about = { tenantId, bucket: bucket.name, key, uploadId, parts, etag, checksums, precondition }
    const fingerprint = fingerprintOfParts(parts)
    return {
      bucket,
      object: settle(await services.propose({ type: 'completeUpload', ...about, fingerprint })),
    }
  },
)

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
async function checksumsOf(
  services: Services,
  found: FoundKey,
  wanted: { readonly uploadId: string; readonly parts: readonly NamedPart[] },
): Promise<Checksums> {
  const named = await namedParts(services, found.bucket.id, wanted)
  // Parts vanish with their upload: another request may have completed it meanwhile, with these very parts.
  const earlier = earlierAnswer(services, found, wanted.uploadId)
  if (earlier !== null) return earlier.checksums
  if (named instanceof Refusal) throw named
  return combinedChecksums(named)
}
