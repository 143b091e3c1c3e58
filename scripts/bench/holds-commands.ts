/** Commands for holds.ts: the largest of each kind that the limits of the service allow. */
import type { ErasedItem } from '../../src/state-machine/removal/commands.ts'
import { ITEMS_PER_COMMAND_MAX } from '../../src/state-machine/base/batch-bound.ts'
import type { ChunkUse } from '../../src/state-machine/chunks/commands.ts'
import type { Command } from '../../src/state-machine/commands.ts'
import { PART_BYTES_MIN } from '../../src/state-machine/objects/limits.ts'
import type { LevelStateReader } from '../../src/store/reads/level-state-reader.ts'
import { bucketKeys } from '../../src/state-machine/buckets/keys.ts'
import { pageOfObjects } from '../../src/store/reads/object-listing.ts'
import { versionKeys } from '../../src/state-machine/versions/keys.ts'

/** A copy has at most 5 GiB: this many chunks of 4 MiB, or this many of the smallest parts. */
export const WHOLE_CHUNKS = 1_280
export const COPIED_PARTS = 1_024
const CHUNK_BYTES = 4 * 1024 * 1024
const PARTS_PER_ENTRY = 200

type Entry = (commands: readonly Command[]) => Promise<readonly unknown[]>

export interface Named {
  readonly key: string
  readonly versionId: string
}

export const nameOf = (key: string) => ({ tenantId: 'acme', bucket: 'films', key }) as const
const PRECONDITION = { ifMatch: null, ifNoneMatch: null } as const
const LOCKS = { retention: null, legalHold: false } as const
const ABOUT = { contentType: 'video/mp4', metadata: {}, masterKeyId: 'mk-1' } as const

let chunks = 0
function freshChunk(size: number): ChunkUse {
  const id = (++chunks).toString(16).padStart(64, '0')
  const copies = { existing: false, replicas: ['n1', 'n2', 'n3'], missing: [] }
  return { id, birth: `gateway-${chunks}`, size, sealedSize: size + 100, checksum: id, ...copies }
}

function put(key: string, uses: readonly ChunkUse[]): Command {
  const size = uses.reduce((bytes, use) => bytes + use.size, 0)
  const body = { kind: 'chunks', chunks: uses, copiesMin: 2 } as const
  const about = { ...ABOUT, ...LOCKS, tags: {}, precondition: PRECONDITION, idempotency: null }
  return { type: 'putObject', ...nameOf(key), size, etag: 'e', checksums: {}, body, ...about }
}

export async function begin(entry: Entry): Promise<void> {
  const keys = { dataKey: Buffer.alloc(32), dedupKey: Buffer.alloc(32), masterKeyId: 'mk-1' }
  const plain = { bucketsMax: 1, versioning: 'Unversioned', objectLockEnabled: false } as const
  await entry([
    { type: 'createTenant', id: 'acme', name: 'acme', ...keys },
    { type: 'createBucket', tenantId: 'acme', name: 'films', ...plain },
    { type: 'openSession', session: 'gateway', node: 'n1', keep: [] },
  ])
}

export async function storeWhole(entry: Entry): Promise<Named> {
  const uses = Array.from({ length: WHOLE_CHUNKS }, () => freshChunk(CHUNK_BYTES))
  const [value] = (await entry([put('whole', uses)])) as { object: Named }[]
  return { key: 'whole', versionId: value?.object.versionId ?? '' }
}

export const smallObject = (key: string): Command => put(key, [freshChunk(65_536)])

export function copyOf({ key, versionId }: Named, to: string): Command {
  const about = { ...ABOUT, ...LOCKS, tags: {}, precondition: PRECONDITION }
  return { type: 'copyObject', ...nameOf(to), ...about, source: { bucket: 'films', key, versionId } }
}

/** An upload with all its parts; returns the command that completes it. */
export async function upload(
  entry: Entry,
  { key, parts }: { readonly key: string; readonly parts: number },
): Promise<Command> {
  const settings = { tags: {}, ...LOCKS, checksumAlg: null, initiator: 'key', expiresInMs: 86_400_000 }
  const [created] = (await entry([{ type: 'createUpload', ...nameOf(key), ...ABOUT, ...settings }])) as {
    uploadId: string
  }[]
  const uploadId = created?.uploadId ?? ''
  const numbers = Array.from({ length: parts }, (_, n) => n + 1)
  for (let n = 0; n < parts; n += PARTS_PER_ENTRY)
    await entry(numbers.slice(n, n + PARTS_PER_ENTRY).map((one) => partOf(key, uploadId, one)))
  const named = numbers.map((partNumber) => ({ partNumber, etag: etagOf(partNumber) }))
  const made = { etag: 'e', checksums: {}, precondition: PRECONDITION, fingerprint: 'f' }
  return { type: 'completeUpload', ...nameOf(key), uploadId, parts: named, ...made }
}

const etagOf = (partNumber: number): string => `${partNumber.toString(16).padStart(32, '0')}-1`

function partOf(key: string, uploadId: string, partNumber: number): Command {
  const uses = [freshChunk(CHUNK_BYTES), freshChunk(PART_BYTES_MIN - CHUNK_BYTES)]
  const about = { size: PART_BYTES_MIN, etag: etagOf(partNumber), checksums: { CRC64NVME: 'AAAAAAAAAAA=' } }
  const body = { kind: 'chunks', chunks: uses, copiesMin: 2 } as const
  return { type: 'putPart', ...nameOf(key), uploadId, partNumber, ...about, body }
}

export function batchDelete(keys: readonly string[]): readonly Command[] {
  const commands: Command[] = []
  for (let n = 0; n < keys.length; n += ITEMS_PER_COMMAND_MAX) {
    const items = keys.slice(n, n + ITEMS_PER_COMMAND_MAX).map((key) => ({ key, versionId: null }))
    commands.push({ type: 'deleteObjects', tenantId: 'acme', bucket: 'films', items })
  }
  return commands
}

export function endTenant(): readonly Command[] {
  const asked = { requestedBy: 'olga', reason: 'over', locksEndedBy: 0 }
  return [
    { type: 'disableTenant', tenantId: 'acme', reason: 'over' },
    { type: 'deleteTenant', tenantId: 'acme', operationId: 'end', ...asked },
  ]
}

export function eraseStep(items: readonly ErasedItem[]): Command {
  const step = { kind: 'content', bucket: 'films', items } as const
  return { type: 'eraseTenant', tenantId: 'acme', operationId: 'end', step }
}

export async function versionsOf(
  reader: LevelStateReader,
  keys: readonly string[],
): Promise<readonly ErasedItem[]> {
  const bucket = reader.get(bucketKeys.bucket('acme', 'films'))
  if (bucket === undefined) throw new Error('The bucket is gone')
  return keys.map((key) => {
    const versionId = reader.get(versionKeys.object(bucket.id, key))?.versionId ?? ''
    return { kind: 'version', key, versionId }
  })
}

export async function listed(reader: LevelStateReader): Promise<void> {
  const bucket = reader.get(bucketKeys.bucket('acme', 'films'))
  if (bucket === undefined) throw new Error('The bucket is gone')
  const page = await pageOfObjects(reader, bucket.id, {
    prefix: 'small/',
    delimiter: '',
    after: '',
    limit: 1_000,
  })
  if (page.objects.length !== 1_000) throw new Error(`The page has ${page.objects.length} objects`)
}
