/**
 * Copies one object of another store into the cluster, with all that belongs to it.
 *
 * Owns: how often an object is tried, what counts as verified. Rules: bytes that are not those of the source never become an object; what is stored is held
 * against what was received; an object that somebody else writes meanwhile is not replaced.
 */
import { ApiError, type DataClient } from '../../client/clients.ts'
import type { StoredObject } from '../../client/generated/data-operations.ts'
import { CommandError } from '../base/exit.ts'
import { leastPartBytes } from '../../client/parts.ts'
import type { RemotePath } from '../objects/remote-path.ts'
import { upload, type UploadRequest } from '../objects/upload.ts'
import { type FoundTarget, type Metadata, type SourceVersion, withRecord } from './import-record.ts'
import { copyLarge } from './large-object.ts'
import type { OpenUploads } from './open-uploads.ts'
import { drop } from './source-client.ts'
import { type Compared, SourceDigests } from './source-checksums.ts'
import { type ListedSource, sourceTags } from './source-listing.ts'
import { bytesOf, getSource, headSource, type SourceAccess, type SourceObject } from './source-object.ts'

export interface Copier {
  readonly client: DataClient
  readonly access: SourceAccess
  readonly uploads: OpenUploads
  /** Of objects that are so large that this would be too many parts, larger ones are taken. */
  readonly partBytes: number
  readonly copiesTags: boolean
  readonly onBytes: (bytes: number) => void
}

export interface ToCopy {
  readonly bucket: string
  readonly source: ListedSource
  readonly to: RemotePath
  /** Null: there is nothing. */
  readonly target: FoundTarget | null
}

export interface Copied {
  readonly size: number
  readonly versionId: string
  /** Empty: the source keeps no checksum of the whole object. */
  readonly verified: readonly string[]
  readonly leftBehind: readonly string[]
}

/** Of one object. */
const ATTEMPTS_MAX = 3
/** Another attempt can end otherwise. */
const PASSING: readonly string[] = ['checksum_mismatch', 'source_changed', 'source_broken_off']

/** Throws CommandError, SourceError, ApiError, NoAnswerError. */
export async function copyObject(copier: Copier, wanted: ToCopy): Promise<Copied> {
  for (let attempts = 1; ; attempts++) {
    try {
      return await copiedOnce(copier, wanted)
    } catch (cause) {
      if (!mayPass(cause) || attempts === ATTEMPTS_MAX || copier.access.signal.aborted) throw cause
    }
  }
}

function mayPass(cause: unknown): boolean {
  if (cause instanceof ApiError) return cause.code === 'checksum_mismatch'
  if (!(cause instanceof CommandError)) return false
  return PASSING.includes(cause.code) || ('status' in cause && cause.status === 412)
}

async function copiedOnce(copier: Copier, wanted: ToCopy): Promise<Copied> {
  const name = { bucket: wanted.bucket, key: wanted.source.key }
  const { access } = copier
  if (isLarge(copier, wanted.source)) return copiedLarge(copier, wanted, await headSource(access, name))
  const { object, body } = await getSource(access, name)
  try {
    // It has grown since it was listed.
    if (isLarge(copier, object)) return await copiedLarge(copier, wanted, object)
    const digests = await SourceDigests.of(object.claims)
    let compared: Compared | null = null
    async function* pieces(): AsyncGenerator<Buffer> {
      for await (const piece of bytesOf(access, object, { start: 0, end: object.size }, body)) {
        digests.update(piece)
        yield piece
      }
    }
    const source = {
      pieces: pieces(),
      assertUnchanged: async () => {
        compared = digests.end()
        judge(object, compared)
      },
    }
    const requested = await requestFor(copier, wanted, object)
    const how = { partBytes: object.size + 1, parallel: 1, resumes: false }
    const stored = await upload(copier.client, { ...requested, ...how }, source)
    return outcomeOf(object, stored, compared)
  } finally {
    drop(body)
  }
}

/** An object that is larger than a part is not held in memory. */
const isLarge = ({ partBytes }: Copier, { size }: { readonly size: number }): boolean => size > partBytes

async function copiedLarge(copier: Copier, wanted: ToCopy, object: SourceObject): Promise<Copied> {
  const { access, client, uploads } = copier
  const partBytes = Math.max(copier.partBytes, leastPartBytes(object.size))
  const requested = { ...(await requestFor(copier, wanted, object)), partBytes }
  const copy = { client, access, uploads, object, requested }
  const { stored, compared } = await copyLarge(copy, (found) => judge(object, found))
  return outcomeOf(object, stored, compared)
}

type Requested = Omit<UploadRequest, 'partBytes' | 'parallel' | 'resumes'>

async function requestFor(copier: Copier, wanted: ToCopy, object: SourceObject): Promise<Requested> {
  const { access, copiesTags, onBytes } = copier
  const tags: Metadata = copiesTags && object.tagCount > 0 ? await sourceTags(access.client, object) : {}
  return {
    bucket: wanted.to.bucket,
    key: wanted.to.key,
    contentType: object.contentType,
    metadata: withRecord(object.metadata, recordOf(object, wanted.source)),
    tags,
    representation: object.representation,
    conditions: wanted.target === null ? { 'If-None-Match': '*' } : { 'If-Match': `"${wanted.target.etag}"` },
    signal: access.signal,
    onBytes,
  }
}

/** What the listing says, where headers say nothing: the next import compares with the listing. */
function recordOf({ etag, modifiedAt }: SourceObject, listed: ListedSource): SourceVersion {
  return {
    etag: etag === '' ? listed.etag : etag,
    modifiedAt: Number.isNaN(modifiedAt) ? listed.modifiedAt : modifiedAt,
  }
}

function judge({ bucket, key }: SourceObject, { mismatch }: Compared): void {
  if (mismatch === null) return
  throw new CommandError(`'${bucket}/${key}' was received from the source with ${mismatch}`, {
    code: 'checksum_mismatch',
    hint: 'Nothing is stored. If etags of this source are no MD5s, add --no-etag-md5; otherwise it sends other bytes than it was given.',
  })
}

function outcomeOf(object: SourceObject, stored: StoredObject, compared: Compared | null): Copied {
  const { size, leftBehind } = object
  if (compared === null || stored.size !== size || stored.checksums['CRC64NVME'] !== compared.crc64nvme)
    throw new CommandError(
      `'${stored.bucket}/${stored.key}' is stored with ${stored.size} bytes and CRC64NVME ${stored.checksums['CRC64NVME'] ?? ''}, received were ${size} and ${compared?.crc64nvme ?? ''}`,
      {
        code: 'stored_differently',
        hint: 'Remove the object, try again, and report the request id to an operator if it happens again.',
      },
    )
  return { size, versionId: stored.versionId, verified: compared.verified, leftBehind }
}
