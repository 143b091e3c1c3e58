/**
 * completeMultipartUpload: authorize -> bucket exists -> upload exists -> parts -> checksums -> commit.
 *
 * Owns: what the commit cannot compute, the tag and the checksums of the whole. Whether the parts are those that are
 * named, and that they become an object once, is decided in apply.
 * Rule: an upload may end at any moment. Whatever is not as named is refused here only while the upload is still under
 * way; once it has ended, the answer to its completion counts. [decisions 6]
 */
import { authorize } from '../../access/authorize.ts'
import type { AccessKeyPrincipal } from '../../access/principal.ts'
import { verifyClaims } from '../../content/checksums.ts'
import { combinedChecksums } from '../../content/combined-checksums.ts'
import { etagOfParts } from '../../content/etag.ts'
import { Refusal } from '../../refusal.ts'
import type { WritePrecondition } from '../../state-machine/commands.ts'
import type { BucketRecord, ChecksumAlgorithm, Checksums, ObjectRecord } from '../../state-machine/records.ts'
import { findBucket } from '../buckets/find-bucket.ts'
import type { Services } from '../services.ts'
import { settle } from '../settle.ts'
import { noSuchUpload, openUpload, type UploadName } from './find-upload.ts'
import { checkPartList, type NamedPart, namedParts } from './named-parts.ts'

interface CompleteMultipartUploadInput extends UploadName {
  /** Entity tags with or without quotes. */
  readonly parts: readonly NamedPart[]
  readonly precondition: WritePrecondition
  /** Of the whole. */
  readonly claimed: ReadonlyMap<ChecksumAlgorithm, Uint8Array>
}

export interface AssembledObject {
  readonly bucket: BucketRecord
  readonly object: ObjectRecord
}

export async function completeMultipartUpload(
  services: Services,
  principal: AccessKeyPrincipal,
  input: CompleteMultipartUploadInput,
): Promise<AssembledObject> {
  const { tenantId } = principal
  const { key, uploadId, precondition, claimed } = input
  authorize(principal, 'completeMultipartUpload', { bucket: input.bucket, key })
  const bucket = findBucket(services, tenantId, input.bucket)
  earlierAnswer(services, bucket, input)
  const parts = checkPartList(input.parts)
  const checksums = await checksumsOf(services, bucket, { ...input, parts })
  verifyClaims(claimed, checksums)
  const etag = etagOfParts(parts.map((part) => part.etag))
  const about = { tenantId, bucket: bucket.name, key, uploadId, parts, etag, checksums, precondition }
  return { bucket, object: settle(await services.propose({ type: 'completeUpload', ...about })) }
}

/** Null while the upload is under way. Throws Refusal invalid_key, not_found. */
function earlierAnswer(services: Services, bucket: BucketRecord, input: UploadName): ObjectRecord | null {
  if (openUpload(services, bucket, input) !== null) return null
  const earlier = services.state.completed(bucket, input.key, input.uploadId)
  if (earlier === undefined) throw noSuchUpload(input)
  return earlier.object
}

/** Throws Refusal not_found, invalid_part. */
async function checksumsOf(
  services: Services,
  bucket: BucketRecord,
  input: UploadName & { readonly parts: readonly NamedPart[] },
): Promise<Checksums> {
  const named = await namedParts(services, bucket.id, input)
  // Parts vanish with their upload: another request may have completed it meanwhile, with these very parts.
  const earlier = earlierAnswer(services, bucket, input)
  if (earlier !== null) return earlier.checksums
  if (named instanceof Refusal) throw named
  return combinedChecksums(named)
}
