/**
 * The bytes of an object, from wherever they lie: nowhere, inline in the metadata, or in chunks on the nodes.
 *
 * Owns: which chunks a range touches. Knows nothing of: copies (read-chunk.ts), HTTP.
 * Rules: a page of the manifest and a frame are all that is held, however large the object; nothing is read ahead of
 * the consumer. An object replaced while it is read ends in an error that asks for a retry, never in other bytes.
 */
import assert from 'node:assert/strict'
import { Condition, type BlobRef, type Blobs } from '../../cluster/index.ts'
import type {
  BucketId,
  ChunkId,
  ChunkLink,
  ChunkRecord,
  ObjectRecord,
  TenantId,
} from '../state-machine/records.ts'
import type { StateReader } from '../store/state-reader.ts'
import type { TenantKeys } from './chunk-keys.ts'
import type { ByteRange } from './range.ts'
import { readChunk } from './read-chunk.ts'
import { FRAME_BYTES, frameCountOf, openFrames, SealBrokenError } from './sealing.ts'

const LINKS_A_CALL_MAX = 1024

export interface ReadParts {
  readonly tenantId: TenantId
  readonly bucketId: BucketId
  readonly object: ObjectRecord
  readonly blobs: Pick<Blobs, 'copies' | 'report'>
  readonly state: Pick<StateReader, 'chunk' | 'inlineBody' | 'manifest'>
  readonly keys: TenantKeys
}

export function readContent(parts: ReadParts, range: ByteRange): AsyncIterable<Buffer> {
  const { body, size } = parts.object
  assert(
    0 <= range.start && range.start <= range.end && range.end <= size,
    'the range lies inside of the object',
  )
  switch (body.kind) {
    case 'empty':
      return nothing()
    case 'inline':
      return readInline(parts, body.chunkId, range)
    case 'chunks':
      return readChunks(parts, body.count, range)
  }
}

async function* nothing(): AsyncGenerator<Buffer> {}

async function* readInline(parts: ReadParts, chunkId: ChunkId, range: ByteRange): AsyncGenerator<Buffer> {
  const { object, keys } = parts
  if (range.start === range.end) return
  const row = parts.state.inlineBody(parts.bucketId, object.versionId)
  if (row === undefined) throw replaced(object)
  const span = {
    key: keys.chunkKey(chunkId),
    plainSize: object.size,
    first: 0,
    end: frameCountOf(object.size),
  }
  let start = 0
  try {
    for await (const plain of openFrames(onePiece(row.sealed), span)) {
      const part = plain.subarray(Math.max(0, range.start - start), Math.max(0, range.end - start))
      if (part.length > 0) yield part
      start += FRAME_BYTES
    }
  } catch (cause) {
    if (!(cause instanceof SealBrokenError)) throw cause
    throw new Error(`The inline body of '${object.key}' version '${object.versionId}' does not open`, {
      cause,
    })
  }
}

async function* onePiece(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}

async function* readChunks(parts: ReadParts, count: number, range: ByteRange): AsyncGenerator<Buffer> {
  let start = 0
  for (const link of manifestOf(parts, count)) {
    const end = start + link.size
    if (start >= range.end) return
    if (end > range.start) {
      const within = { start: Math.max(range.start, start) - start, end: Math.min(range.end, end) - start }
      if (within.start < within.end) yield* readChunk(chunkToRead(parts, link), within)
    }
    start = end
  }
}

/** Page by page: chunks may have any size, so the way to a position leads over all before it. */
function* manifestOf(parts: ReadParts, count: number): Generator<ChunkLink> {
  for (let first = 0; first < count; first += LINKS_A_CALL_MAX) {
    const wanted = Math.min(LINKS_A_CALL_MAX, count - first)
    const links = parts.state.manifest(parts.bucketId, parts.object.versionId, first, wanted)
    if (links.length < wanted) throw replaced(parts.object)
    yield* links
  }
}

function chunkToRead(parts: ReadParts, link: ChunkLink) {
  const { blobs, keys, state, tenantId } = parts
  const locate = (): BlobRef | null => {
    const row = state.chunk(tenantId, link.id)
    return row === undefined ? null : blobRefOf(row)
  }
  if (locate() === null) throw replaced(parts.object)
  return { blobs, key: keys.chunkKey(link.id), plainSize: link.size, locate }
}

function blobRefOf(row: ChunkRecord): BlobRef {
  // To the machine below a chunk is a blob, and its id only a name.
  const id: string = row.id
  const { birth, sealedSize: size, checksum, replicas, tenantId: owner } = row
  return { id, birth, size, checksum, replicas, owner }
}

function replaced(object: ObjectRecord): Condition {
  return new Condition('slow_down', `Object '${object.key}' was replaced or deleted while it was read`)
}
