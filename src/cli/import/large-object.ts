/**
 * Copies a large object: ranges of the source become parts of an upload, a few at once. [decisions 6]
 *
 * Owns: where an interrupted upload continues. Rules: parts that the target has stored are neither read nor sent again, and count in the digests by their
 * saved state; the object comes into being only when its digests are those that the source keeps.
 */
import { ApiError, type DataClient } from '../../client/clients.ts'
import type { StoredObject } from '../../client/generated/data-operations.ts'
import { forEachBounded } from '../base/bounded.ts'
import { CommandError } from '../base/exit.ts'
import type { UploadRequest } from '../objects/upload.ts'
import {
  completeUpload,
  knownParts,
  newUpload,
  type NumberedPart,
  sendPart,
} from '../objects/upload-parts.ts'
import type { OpenUpload, OpenUploads } from './open-uploads.ts'
import { type Compared, type SavedDigests, SourceDigests } from './source-checksums.ts'
import { SourceError } from './source-error.ts'
import { bytesOf, type SourceAccess, type SourceObject } from './source-object.ts'

/** Three parts of each object are in memory: two are sent while the next is read. */
const PARTS_AT_ONCE = 2

export interface LargeCopy {
  readonly client: DataClient
  readonly access: SourceAccess
  readonly uploads: OpenUploads
  readonly object: SourceObject
  readonly requested: Omit<UploadRequest, 'parallel' | 'resumes'>
}

interface Started {
  readonly open: OpenUpload
  readonly etags: string[]
  readonly digests: SourceDigests
}

/** `judge` throws when the bytes are not those of the source: then the upload ends, too. */
export async function copyLarge(
  copy: LargeCopy,
  judge: (compared: Compared) => void,
): Promise<{ readonly stored: StoredObject; readonly compared: Compared }> {
  const { client, requested, uploads } = copy
  const started = (await resumed(copy)) ?? (await fresh(copy))
  try {
    await sendRest(copy, started)
    const compared = started.digests.end()
    judge(compared)
    const made = { uploadId: started.open.uploadId, etags: started.etags, crc64nvme: compared.crc64nvme }
    const stored = await completeUpload(client, requested, made)
    await uploads.remove(requested)
    return { stored, compared }
  } catch (cause) {
    if (!mayGoOn(cause)) await giveUp(copy, started.open)
    throw cause
  }
}

/** False: a next attempt would fail with these parts again. */
function mayGoOn(cause: unknown): boolean {
  if (cause instanceof SourceError) return cause.status !== 404 && cause.status !== 412
  if (cause instanceof ApiError) return cause.status >= 500 || [401, 403, 429].includes(cause.status)
  return !(cause instanceof CommandError && ['checksum_mismatch', 'source_changed'].includes(cause.code))
}

async function fresh({ client, object, requested, uploads }: LargeCopy): Promise<Started> {
  const digests = await SourceDigests.of(object.claims)
  const { bucket, key, partBytes } = requested
  const { bucket: sourceBucket, key: sourceKey, etag, size, modifiedAt } = object
  const source = { bucket: sourceBucket, key: sourceKey, etag, size, modifiedAt }
  const uploadId = await newUpload(client, requested)
  const open = { bucket, key, uploadId, partBytes, source, parts: 0, digests: digests.saved() }
  await uploads.keep(open)
  return { open, etags: [], digests }
}

/** Null: nothing is under way that belongs to this version of the object. */
async function resumed(copy: LargeCopy): Promise<Started | null> {
  const { client, object, requested, uploads } = copy
  const open = await uploads.find(requested)
  if (open === null) return null
  const { bucket, key, etag, size, modifiedAt } = open.source
  const isSame =
    open.partBytes === requested.partBytes &&
    [bucket === object.bucket, key === object.key, etag === object.etag].every(Boolean) &&
    [size === object.size, modifiedAt === object.modifiedAt].every(Boolean)
  const etags = isSame ? await storedParts(client, requested, open) : null
  const digests = etags === null ? null : await loaded(object, open.digests)
  if (etags !== null && digests !== null) return { open, etags, digests }
  await giveUp(copy, open)
  return null
}

/** Null: the upload is gone, or a part of it. */
async function storedParts(
  client: DataClient,
  requested: LargeCopy['requested'],
  open: OpenUpload,
): Promise<string[] | null> {
  try {
    const known = await knownParts(client, requested, open.uploadId)
    const etags = Array.from({ length: open.parts }, (_, n) => {
      const part = known.get(n + 1)
      return part?.size === open.partBytes ? part.etag : null
    })
    const whole = etags.filter((etag) => etag !== null)
    return whole.length === open.parts ? whole : null
  } catch (cause) {
    if (cause instanceof ApiError && cause.status === 404) return null
    throw cause
  }
}

async function loaded(object: SourceObject, saved: SavedDigests): Promise<SourceDigests | null> {
  try {
    return await SourceDigests.of(object.claims, saved)
  } catch {
    // Another version of the program saved it.
    return null
  }
}

async function giveUp({ client, requested, uploads }: LargeCopy, { uploadId }: OpenUpload): Promise<void> {
  const { bucket, key } = requested
  await uploads.remove(requested)
  // Otherwise the service gives it up after seven days.
  await client.call('abortMultipartUpload', { params: { bucket, key, uploadId } }).catch(() => {})
}

async function sendRest(copy: LargeCopy, { open, etags, digests }: Started): Promise<void> {
  const { client, requested, uploads } = copy
  const { uploadId } = open
  /** By the number of the part after which they were saved; of parts that are not all stored yet. */
  const states = new Map<number, SavedDigests>()
  let stored = open.parts
  requested.onBytes(stored * open.partBytes)
  await forEachBounded(restOf(copy, { digests, states, from: stored }), PARTS_AT_ONCE, async (part) => {
    etags[part.partNumber - 1] = await sendPart(client, requested, { uploadId, part })
    requested.onBytes(part.bytes.length)
    const before = stored
    while (etags[stored] !== undefined) stored += 1
    const state = states.get(stored)
    for (const number of states.keys()) if (number <= stored) states.delete(number)
    if (stored > before && state !== undefined) await uploads.keep({ ...open, parts: stored, digests: state })
  })
}

async function* restOf(
  { access, object, requested: { partBytes } }: LargeCopy,
  read: {
    readonly digests: SourceDigests
    readonly states: Map<number, SavedDigests>
    readonly from: number
  },
): AsyncGenerator<NumberedPart> {
  const count = Math.ceil(object.size / partBytes)
  for (let partNumber = read.from + 1; partNumber <= count; partNumber++) {
    const start = (partNumber - 1) * partBytes
    const end = Math.min(object.size, start + partBytes)
    const bytes = Buffer.allocUnsafe(end - start)
    let at = 0
    for await (const piece of bytesOf(access, object, { start, end }, null)) {
      read.digests.update(piece)
      at += piece.copy(bytes, at)
    }
    // A resumed upload counts in whole parts.
    if (partNumber < count) read.states.set(partNumber, read.digests.saved())
    yield { partNumber, bytes }
  }
}
