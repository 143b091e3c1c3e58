/**
 * The bytes of an object, from wherever they lie: nowhere, inline in the metadata, or in chunks on the nodes.
 *
 * Owns: which chunks a range touches. Knows nothing of: copies (read-chunk.ts), HTTP.
 * Rules: a page of the manifest, one piece from the disk and what it opens to are all that is held, however large the
 * object; nothing is read ahead of the consumer. An object whose rows go while it is read ends in an error that asks for a
 * retry, never in other bytes.
 */
import assert from 'node:assert/strict'
import { Condition, type BlobRef, type Blobs } from '../../cluster/index.ts'
import type { BucketId, ChunkId, TenantId } from '../state-machine/base/record-ids.ts'
import type { ObjectPart } from '../state-machine/bodies/records.ts'
import type { ChunkLink, ChunkRecord } from '../state-machine/chunks/records.ts'
import type { ObjectRecord } from '../state-machine/versions/records.ts'
import type { PinnedRows, StateReader } from '../store/reads/state-reader.ts'
import { CHUNK_BYTES } from './chunk-slots.ts'
import { frameCountOf, SealBrokenError } from './frame-cipher.ts'
import { openFrames } from './frame-layout.ts'
import type { ByteRange } from './range.ts'
import { readChunk } from './read-chunk.ts'
import { layoutOf, sealedSizeOf } from './sealing.ts'
import type { TenantKeys } from './tenant-keys.ts'

/** The rows of a body went while it was read. Whoever has sent nothing of it yet can look the object up again. */
export class BodyGoneError extends Condition {
  constructor(message: string) {
    super('slow_down', message)
    this.name = 'BodyGoneError'
  }
}

const NOTHING_PINNED: PinnedRows = {}
const LINKS_A_CALL_MAX = 1024
/** Inline bodies are never compressed: format 1 has no header. */
const NO_HEAD = Buffer.alloc(0)

/** What of an object has to be known to read it. */
export type ReadableBody = Pick<ObjectRecord, 'key' | 'versionId' | 'size' | 'body'>

export interface ReadParts {
  readonly tenantId: TenantId
  readonly bucketId: BucketId
  readonly object: ReadableBody
  readonly pinned: PinnedRows
  readonly blobs: Pick<Blobs, 'reading' | 'report'>
  readonly state: Pick<StateReader, 'chunk' | 'inlineBody' | 'manifest' | 'objectParts'>
  readonly keys: TenantKeys
}

/** Each piece is the reader's own, memory and all. */
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
    case 'parts':
      return readParts(parts, body.count, range)
  }
}

/** Each part is a body of its own. Parts before the range cost a look at their sizes, a page of them at a time. */
async function* readParts(parts: ReadParts, count: number, range: ByteRange): AsyncGenerator<Buffer> {
  const { bucketId, object, state } = parts
  let start = 0
  let seen = 0
  for (let page = 0; seen < count && start < range.end; page++) {
    const row = state.objectParts(bucketId, object.versionId, page)
    if (row.length === 0) throw replaced(object)
    seen += row.length
    for (const part of row) {
      if (!isWhole(part)) throw replaced(object)
      const { partId, size, body } = part
      const within = { start: Math.max(0, range.start - start), end: Math.min(size, range.end - start) }
      start += size
      if (within.start >= within.end) continue
      const piece = { key: object.key, versionId: partId, size, body }
      yield* readContent({ ...parts, object: piece, pinned: NOTHING_PINNED }, within)
    }
  }
}

/** The end of a body that is being released goes first, a page of its manifest at a time. */
function isWhole({ size, body }: ObjectPart): boolean {
  return body.kind !== 'chunks' || body.count === Math.ceil(size / CHUNK_BYTES)
}

async function* nothing(): AsyncGenerator<Buffer> {}

async function* readInline(parts: ReadParts, chunkId: ChunkId, range: ByteRange): AsyncGenerator<Buffer> {
  const { object, keys } = parts
  if (range.start === range.end) return
  const row = parts.pinned.inline ?? parts.state.inlineBody(parts.bucketId, object.versionId)
  if (row === undefined) throw replaced(object)
  const { size } = object
  const layout = layoutOf({ keys, id: chunkId, size, sealedSize: sealedSizeOf(size) }, NO_HEAD)
  const span = { first: 0, end: frameCountOf(size) }
  let start = 0
  try {
    for await (const plain of openFrames(onePiece(row.sealed), layout, span)) {
      const part = plain.subarray(Math.max(0, range.start - start), Math.max(0, range.end - start))
      start += plain.length
      if (part.length > 0) yield part
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

/** Every chunk but the last is full, so the place of a position in the manifest is a division, however large the body. */
async function* readChunks(parts: ReadParts, count: number, range: ByteRange): AsyncGenerator<Buffer> {
  const { size } = parts.object
  let position = range.start
  const first = Math.floor(range.start / CHUNK_BYTES)
  const end = Math.min(count, Math.ceil(range.end / CHUNK_BYTES))
  for (const link of linksOf(parts, { first, end })) {
    const start = position - (position % CHUNK_BYTES)
    assert.equal(link.size, Math.min(CHUNK_BYTES, size - start), 'every chunk of a body but its last is full')
    const stop = Math.min(range.end, start + link.size)
    if (position < stop)
      yield* readChunk(chunkToRead(parts, link), { start: position - start, end: stop - start })
    position = stop
  }
}

function* linksOf(parts: ReadParts, { first, end }: { first: number; end: number }): Generator<ChunkLink> {
  const { links: pinned } = parts.pinned
  if (pinned !== undefined) return yield* pinned.slice(first, end)
  for (let next = first; next < end; ) {
    // To the end of a page, so that no page is read twice.
    const wanted = Math.min(LINKS_A_CALL_MAX - (next % LINKS_A_CALL_MAX), end - next)
    const links = parts.state.manifest(parts.bucketId, parts.object.versionId, next, wanted)
    if (links.length < wanted) throw replaced(parts.object)
    yield* links
    next += wanted
  }
}

function chunkToRead(parts: ReadParts, link: ChunkLink) {
  const { blobs, keys, state, tenantId } = parts
  const locate = (): BlobRef | null => {
    const row = state.chunk(tenantId, link.id)
    return row === undefined ? null : blobRefOf(row)
  }
  if (locate() === null) throw replaced(parts.object)
  return { blobs, keys, id: link.id, plainSize: link.size, locate }
}

function blobRefOf(row: ChunkRecord): BlobRef {
  // To the machine below a chunk is a blob, and its id only a name.
  const id: string = row.id
  const { birth, sealedSize: size, checksum, replicas, tenantId: owner } = row
  return { id, birth, size, checksum, replicas, owner }
}

function replaced(object: ReadableBody): Condition {
  return new BodyGoneError(`Object '${object.key}' was replaced or deleted while it was read`)
}
