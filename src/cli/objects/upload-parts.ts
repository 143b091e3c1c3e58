/**
 * Sends a body in parts, several at once, and completes the upload. [decisions 6]
 *
 * Owns: which upload is resumed. Rules: an existing part counts only when its SHA-256 is that of the local bytes. The completion claims
 * the CRC64NVME of all bytes that were read, so that parts in a wrong order do not become an object.
 * A failed upload stays and can be resumed; the service gives it up after seven days.
 */
import type { DataClient } from '../../client/clients.ts'
import type { ListedPart, StoredObject } from '../../client/generated/data-operations.ts'
import { forEachBounded } from '../base/bounded.ts'
import { CommandError, EXIT } from '../base/exit.ts'
import { crc64nvme, sha256Of } from './digests.ts'
import { PART_COUNT_MAX } from '../../client/parts.ts'
import type { UploadSource, UploadRequest } from './upload.ts'

export interface NumberedPart {
  readonly partNumber: number
  readonly bytes: Uint8Array
}

export type KnownParts = ReadonlyMap<number, ListedPart>

export async function uploadInParts(
  client: DataClient,
  requested: UploadRequest,
  source: UploadSource,
  bodies: AsyncIterable<Uint8Array>,
): Promise<StoredObject> {
  const uploadId =
    (requested.resumes ? await brokenOff(client, requested) : null) ?? (await newUpload(client, requested))
  const known = requested.resumes
    ? await knownParts(client, requested, uploadId)
    : new Map<number, ListedPart>()
  const whole = await crc64nvme()
  const etags: string[] = []
  await forEachBounded(numbered(bodies, whole.update), requested.parallel, async (part) => {
    etags[part.partNumber - 1] = await etagOf(client, requested, { uploadId, known, part })
    requested.onBytes(part.bytes.length)
  })
  await source.assertUnchanged()
  return completeUpload(client, requested, { uploadId, etags, crc64nvme: whole.digest() })
}

/** `etags`: of all parts, in their order; `crc64nvme`: of their bytes, base64. */
export async function completeUpload(
  client: DataClient,
  { bucket, key, conditions, signal }: Pick<UploadRequest, 'bucket' | 'key' | 'conditions' | 'signal'>,
  made: { readonly uploadId: string; readonly etags: readonly string[]; readonly crc64nvme: string },
): Promise<StoredObject> {
  const headers = { ...conditions, 'X-Service-Checksum-CRC64NVME': made.crc64nvme }
  const body = { parts: made.etags.map((etag, n) => ({ partNumber: n + 1, etag })) }
  const params = { bucket, key, uploadId: made.uploadId }
  // The service answers a repeated completion like the first one.
  const call = { params, headers, body, signal, isRepeatable: true }
  return (await client.call('completeMultipartUpload', call)).answer
}

async function* numbered(
  bodies: AsyncIterable<Uint8Array>,
  onBytes: (bytes: Uint8Array) => void,
): AsyncGenerator<NumberedPart> {
  let partNumber = 0
  for await (const bytes of bodies) {
    partNumber++
    if (partNumber > PART_COUNT_MAX)
      throw new CommandError(`The body has more than ${PART_COUNT_MAX} parts`, {
        code: 'too_many_parts',
        hint: 'Set a larger --part-size.',
        exitCode: EXIT.usage,
      })
    onBytes(bytes)
    yield { partNumber, bytes }
  }
}

async function etagOf(
  client: DataClient,
  requested: UploadRequest,
  {
    uploadId,
    known,
    part,
  }: { readonly uploadId: string; readonly known: KnownParts; readonly part: NumberedPart },
): Promise<string> {
  const { partNumber, bytes } = part
  const sha256 = sha256Of(bytes)
  const there = known.get(partNumber)
  if (there?.size === bytes.length && there.checksums['SHA256'] === sha256) return there.etag
  return sendPart(client, requested, { uploadId, part })
}

type Place = Pick<UploadRequest, 'bucket' | 'key' | 'signal'>

/** The etag of the stored part. */
export async function sendPart(
  client: DataClient,
  { bucket, key, signal }: Place,
  { uploadId, part: { partNumber, bytes } }: { readonly uploadId: string; readonly part: NumberedPart },
): Promise<string> {
  const sha256 = sha256Of(bytes)
  const params = { bucket, key, uploadId, partNumber: `${partNumber}` }
  const headers = { 'X-Service-Checksum-SHA256': sha256 }
  // Uploading the same part twice has the same effect as once.
  const call = { params, headers, body: bytes, signal, isRepeatable: true }
  return (await client.call('uploadPart', call)).answer.etag
}

type NewUpload = Place & Pick<UploadRequest, 'contentType' | 'metadata' | 'representation' | 'tags'>

/** Its id. */
export async function newUpload(client: DataClient, requested: NewUpload): Promise<string> {
  const { bucket, key, contentType, metadata, representation, tags, signal } = requested
  const body = { contentType, metadata, ...representation, ...(tags === undefined ? {} : { tags }) }
  // One that is made twice stays empty, and the service gives it up after seven days.
  const call = { params: { bucket, key }, body, signal, isRepeatable: true }
  return (await client.call('createMultipartUpload', call)).answer.uploadId
}

/** The newest unfinished upload of exactly this key; null if there is none. */
async function brokenOff(
  client: DataClient,
  { bucket, key, signal, resumesSince = -Infinity }: UploadRequest,
): Promise<string | null> {
  let found: { readonly uploadId: string; readonly createdAt: string } | null = null
  let from: { keyMarker?: string; uploadIdMarker?: string } = {}
  for (;;) {
    const call = { params: { bucket }, query: { prefix: key, ...from }, signal }
    const { answer } = await client.call('listMultipartUploads', call)
    // Keys are in order, so the uploads of this key come before those of longer keys.
    const ofKey = answer.uploads.filter((one) => one.key === key)
    for (const one of ofKey)
      if (Date.parse(one.createdAt) >= resumesSince && (found === null || one.createdAt >= found.createdAt))
        found = one
    const isPassed = ofKey.length < answer.uploads.length
    if (isPassed || !answer.isTruncated || answer.nextKeyMarker === undefined) return found?.uploadId ?? null
    const { nextKeyMarker: keyMarker, nextUploadIdMarker: uploadIdMarker } = answer
    from = { keyMarker, ...(uploadIdMarker === undefined ? {} : { uploadIdMarker }) }
  }
}

/** Those that are stored, by their numbers. */
export async function knownParts(
  client: DataClient,
  { bucket, key, signal }: Place,
  uploadId: string,
): Promise<KnownParts> {
  const known = new Map<number, ListedPart>()
  for (let partNumberMarker = 0; ; ) {
    const params = { bucket, key, uploadId }
    const { answer } = await client.call('listParts', { params, query: { partNumberMarker }, signal })
    for (const part of answer.parts) known.set(part.partNumber, part)
    if (!answer.isTruncated || answer.nextPartNumberMarker === undefined) return known
    partNumberMarker = answer.nextPartNumberMarker
  }
}
