/**
 * Reads the bytes of an object: an empty body, inline in the metadata, or in chunks on the nodes.
 *
 * Owns: which chunks a range touches. Knows nothing of: copies (read-chunk.ts), HTTP.
 * Rules: for an object of any size only a page of the manifest, one piece from the disk and its plain bytes are held; nothing is
 * read ahead of the consumer. If the rows of an object are removed while it is read, the read ends in an error that asks
 * for a retry, never in other bytes.
 */
import assert from 'node:assert/strict'
import { Condition, type BlobRef, type Blobs } from '../../cluster/index.ts'
import type { BucketId, ChunkId, TenantId } from '../state-machine/base/record-ids.ts'
import type { AssembledRecord, ObjectPart } from '../state-machine/bodies/records.ts'
import type { ChunkLink, ChunkRecord } from '../state-machine/chunks/records.ts'
import type { ObjectRecord } from '../state-machine/versions/records.ts'
import type { PinnedRows } from '../store/reads/pinned-rows.ts'
import type { View } from '../state-machine/base/view.ts'
import { CHUNK_BYTES } from './chunk-slots.ts'
import { FRAME_BYTES, SealBrokenError } from './frame-cipher.ts'
import type { ByteRange } from './range.ts'
import { keyVersionOf } from '../state-machine/tenants/data-keys.ts'
import { type LocatedChunk, readChunk } from './read-chunk.ts'
import { layoutOf, sealedSizeOf } from './sealing.ts'
import type { TenantKeys } from './tenant-keys.ts'
import { bodyKeys } from '../state-machine/bodies/keys.ts'
import { chunkKeys } from '../state-machine/chunks/keys.ts'
import { manifestLinks } from '../store/reads/manifest-reads.ts'
import { pageWithByte } from '../store/reads/object-parts.ts'

/** The rows of a body were removed while it was read. A caller that has not sent any byte yet can look the object up again. */
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

/** The members of an object that a read needs. */
export type ReadableBody = Pick<ObjectRecord, 'key' | 'versionId' | 'size' | 'body'>

/** The keys of this version of the tenant's data key; undefined: they were destroyed. */
export type KeySource = (version: number) => TenantKeys | undefined

export interface ReadParts {
  readonly tenantId: TenantId
  readonly bucketId: BucketId
  readonly object: ReadableBody
  readonly pinned: PinnedRows
  readonly blobs: Pick<Blobs, 'reading' | 'report'>
  readonly state: View
  readonly keys: KeySource
  /** Brings `state` up to date. Throws Condition. */
  readonly readBarrier: () => Promise<void>
}

/** The reader owns each piece and its memory. */
export function readContent(parts: ReadParts, range: ByteRange): AsyncIterable<Buffer> {
  const { body, size } = parts.object
  assert(0 <= range.start && range.start <= range.end && range.end <= size, 'the range is inside the object')
  switch (body.kind) {
    case 'empty':
      return nothing()
    case 'inline':
      return readInline(parts, body.chunkId, range)
    case 'chunks':
      return readChunks(parts, body.count, range)
    case 'parts':
      return readParts(parts, body, range)
  }
}

/** Each part is a body of its own. For parts before the range, at most of its page, only their sizes are read. */
async function* readParts(parts: ReadParts, body: AssembledRecord, range: ByteRange): AsyncGenerator<Buffer> {
  const { bucketId, object, state } = parts
  let { page, start } = pageWithByte(body, range.start)
  for (; start < range.end; page++) {
    const row = state.get(bodyKeys.partPage(bucketId, object.versionId, page))?.parts ?? []
    if (row.length === 0) throw replaced(object)
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

/** False for a body that is being released: the release starts at its end, so its links are incomplete. */
function isWhole({ size, body }: ObjectPart): boolean {
  return body.kind !== 'chunks' || body.count === Math.ceil(size / CHUNK_BYTES)
}

async function* nothing(): AsyncGenerator<Buffer> {}

/** The bytes of an inline body in one piece; the reader owns it. Throws BodyGoneError, or an error where it does not open. */
export function readInlineContent(parts: ReadParts, range: ByteRange): Buffer {
  const { body } = parts.object
  assert(body.kind === 'inline', 'only an inline body is at hand')
  const pieces = [...inlinePieces(parts, body.chunkId, range)]
  const [only] = pieces
  return only !== undefined && pieces.length === 1 ? only : Buffer.concat(pieces)
}

async function* readInline(parts: ReadParts, chunkId: ChunkId, range: ByteRange): AsyncGenerator<Buffer> {
  yield* inlinePieces(parts, chunkId, range)
}

function* inlinePieces(parts: ReadParts, chunkId: ChunkId, range: ByteRange): Generator<Buffer> {
  const { object } = parts
  if (range.start === range.end) return
  const row = parts.pinned.inline ?? parts.state.get(bodyKeys.inlineBody(parts.bucketId, object.versionId))
  if (row === undefined) throw replaced(object)
  const keys = parts.keys(keyVersionOf(row))
  // It was sealed with another key after it was read here, and that key is gone; the row that is there now opens.
  if (keys === undefined) throw replaced(object)
  try {
    yield* openInline({ keys, chunkId, size: object.size, sealed: row.sealed }, range)
  } catch (cause) {
    if (!(cause instanceof SealBrokenError)) throw cause
    throw new Error(`The inline body of '${object.key}' version '${object.versionId}' does not open`, {
      cause,
    })
  }
}

/** Yields the plain bytes of the range, frame by frame. Throws SealBrokenError. */
export function* openInline(
  body: {
    readonly keys: TenantKeys
    readonly chunkId: ChunkId
    readonly size: number
    readonly sealed: Uint8Array
  },
  range: ByteRange,
): Generator<Buffer> {
  const { keys, chunkId: id, size } = body
  const layout = layoutOf({ keys, id, size, sealedSize: sealedSizeOf(size) }, NO_HEAD)
  const sealed = Buffer.from(body.sealed.buffer, body.sealed.byteOffset, body.sealed.byteLength)
  const last = Math.ceil(range.end / FRAME_BYTES)
  for (let frame = Math.floor(range.start / FRAME_BYTES); frame < last; frame++) {
    const start = frame * FRAME_BYTES
    const plain = layout.open(frame, sealed.subarray(layout.offsetOf(frame), layout.offsetOf(frame + 1)))
    yield plain.subarray(Math.max(0, range.start - start), range.end - start)
  }
}

/** Every chunk except the last is full, so a division finds a position in the manifest, for a body of any size. */
async function* readChunks(parts: ReadParts, count: number, range: ByteRange): AsyncGenerator<Buffer> {
  const { size } = parts.object
  let position = range.start
  const first = Math.floor(range.start / CHUNK_BYTES)
  const end = Math.min(count, Math.ceil(range.end / CHUNK_BYTES))
  for (const link of linksOf(parts, { first, end })) {
    const start = position - (position % CHUNK_BYTES)
    assert.equal(
      link.size,
      Math.min(CHUNK_BYTES, size - start),
      'every chunk of a body except its last is full',
    )
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
    // Up to the end of a page, so that no page is read twice.
    const wanted = Math.min(LINKS_A_CALL_MAX - (next % LINKS_A_CALL_MAX), end - next)
    const links = manifestLinks(
      parts.state,
      { bucketId: parts.bucketId, versionId: parts.object.versionId },
      next,
      wanted,
    )
    if (links.length < wanted) throw replaced(parts.object)
    yield* links
    next += wanted
  }
}

function chunkToRead(parts: ReadParts, link: ChunkLink) {
  const { blobs, readBarrier, state, tenantId } = parts
  const locate = (): LocatedChunk | null => {
    const row = state.get(chunkKeys.chunk(tenantId, link.id))
    const keys = row === undefined ? undefined : parts.keys(keyVersionOf(row))
    return row === undefined || keys === undefined ? null : { ref: blobRefOf(row), keys }
  }
  if (locate() === null) throw replaced(parts.object)
  return { blobs, id: link.id, plainSize: link.size, locate, readBarrier }
}

export function blobRefOf(row: ChunkRecord): BlobRef {
  // For the cluster a chunk is a blob, and its id only a name.
  const id: string = row.id
  const { birth, sealedSize: size, checksum, replicas, tenantId: owner } = row
  return { id, birth, size, checksum, replicas, owner }
}

function replaced(object: ReadableBody): Condition {
  return new BodyGoneError(`Object '${object.key}' was replaced or deleted while it was read`)
}
