/**
 * The bytes of a version or a part: an inline row, a manifest, or parts with ids of their own.
 *
 * Owns: the rows of a body, from writing to removal. Knows nothing of: objects, uploads.
 * Rules: rows of a body are written once and never changed while a download may read them, except for a small one that is sealed
 * again: its row names the key. The body of a removed version is discarded: a row records that, and discards.ts releases the body
 * later in steps, so that no entry does unbounded work.
 */
import { chunkKeys } from '../chunks/keys.ts'
import { bodyKeys } from './keys.ts'
import type { ApplyContext, View } from '../base/view.ts'
import { assert } from '../base/assert.ts'
import { claimAgain, claimChunks, endedBirths, releaseChunks, unsafeChunks } from '../chunks/chunks.ts'
import type { ChunkId, VersionId } from '../base/record-ids.ts'
import type { BodyRecord, ObjectPart, PieceRecord } from './records.ts'
import type { BucketRecord } from '../buckets/records.ts'
import type { ChunkUse, PutBody } from '../chunks/commands.ts'
import type { ChunkRecord } from '../chunks/records.ts'
import type { Draft } from '../base/draft.ts'
import { dropManifest, readManifest, writeManifest } from './manifests.ts'
import { type Refused, refuse } from '../base/reply.ts'
import { countSealed, hasKeyOf, keyVersionMember, keyVersionOf } from '../tenants/data-keys.ts'
import { tenantKeys } from '../tenants/keys.ts'
import { countTenant } from '../usage/usage.ts'

/** Bodies of more chunks than this are discarded instead of dropped, even if no download can be reading them. */
export const DROPPED_LINKS_MAX = 16
/** From this feature level on, bodies of removed versions are kept for downloads that read them. */
const KEEPS_BODIES_LEVEL = 3
export const PARTS_PER_PAGE = 1000

export interface ChunksGone {
  readonly ok: false
  readonly code: 'chunks_gone'
  readonly message: string
  readonly chunks: readonly ChunkId[]
}

export interface UploadSessionEnded {
  readonly ok: false
  readonly code: 'session_ended'
  readonly message: string
  readonly births: readonly string[]
}

/** Where a body is: under this id in this bucket. */
export interface BodyPlace {
  readonly bucket: Pick<BucketRecord, 'id' | 'tenantId'>
  readonly id: VersionId
}

/** Why a body cannot be written: it is malformed, or chunks or sessions that it needs are gone. Null: it can be written. */
export function bodyFault(
  view: View,
  { tenantId, size, body }: { readonly tenantId: string; readonly size: number; readonly body: PutBody },
): Refused | ChunksGone | UploadSessionEnded | null {
  const fault = shapeFault(size, body)
  if (fault !== null) return refuse('invalid_argument', `Cannot store the body: ${fault}`)
  const births = endedBirths(view, usesOf(body))
  if (births.length > 0) {
    const message = `Cannot store the body: the sessions of ${births.length} uploads are closed or not open yet`
    return { ok: false, code: 'session_ended', message, births }
  }
  const chunks = goneOf(view, tenantId, body)
  if (chunks.length === 0) return null
  const message = `Cannot store the body: ${chunks.length} chunks it counts on are gone or have too few copies`
  return { ok: false, code: 'chunks_gone', message, chunks }
}

function goneOf(view: View, tenantId: string, body: PutBody): readonly ChunkId[] {
  if (body.kind === 'inline') return hasKeyOf(view, tenantId, body) ? [] : [body.chunkId]
  return unsafeChunks(view, tenantId, body)
}

/** A malformed body: accepting it would lose bytes or count them wrongly. */
function shapeFault(size: number, body: PutBody): string | null {
  if (!Number.isSafeInteger(size) || size < 0) return `the size ${size} is not a number of bytes`
  if (body.kind === 'inline') return size === 0 ? 'an inline body cannot be empty' : null
  const uses = usesOf(body)
  const sum = uses.reduce((bytes, use) => bytes + use.size, 0)
  if (sum !== size) return `its parts make ${sum} bytes and its size is ${size}`
  if (body.kind === 'chunks' && uses.length === 0) return 'it names no chunk'
  const lost = uses.find((use) => !use.existing && use.replicas.length === 0)
  return lost === undefined ? null : `chunk "${lost.id}" has no durable copy`
}

function usesOf(body: PutBody): readonly ChunkUse[] {
  return body.kind === 'chunks' ? body.chunks : []
}

/** Claims the chunks of the body. Call it before anything is released; otherwise a shared chunk looks unused in between. */
export function writeBody(
  draft: Draft,
  { bucket, id }: BodyPlace,
  body: PutBody,
  context: ApplyContext,
): PieceRecord {
  const { tenantId } = bucket
  switch (body.kind) {
    case 'empty':
      return { kind: 'empty' }
    case 'inline':
      return putInline(draft, { bucket, id }, body)
    case 'chunks': {
      claimChunks(draft, { tenantId, body }, context)
      writeManifest(
        draft,
        bucket.id,
        id,
        body.chunks.map(({ id: chunk, size }) => ({ id: chunk, size })),
      )
      const isCompressed = body.chunks.some((use) =>
        isSmallerSealed(draft.get(chunkKeys.chunk(tenantId, use.id))),
      )
      return compressed({ kind: 'chunks', count: body.chunks.length }, isCompressed)
    }
  }
}

/** Sealing without compression only adds bytes, so a chunk that is smaller sealed than plain is compressed. */
function isSmallerSealed(chunk: ChunkRecord | undefined): boolean {
  return chunk !== undefined && chunk.sealedSize < chunk.size
}

function compressed<B extends object>(body: B, isCompressed: boolean): B & { readonly compression?: 'zstd' } {
  return isCompressed ? { ...body, compression: 'zstd' } : body
}

function putInline(
  draft: Draft,
  { bucket, id }: BodyPlace,
  { chunkId, sealed, ...by }: Omit<Extract<PutBody, { kind: 'inline' }>, 'kind'>,
): PieceRecord {
  const member = keyVersionMember(keyVersionOf(by))
  draft.put(bodyKeys.inlineBody(bucket.id, id), { sealed, ...member })
  countTenant(draft, bucket.tenantId, { inlineBytes: sealed.length })
  countSealed(draft, bucket.tenantId, { inlineBytes: sealed.length, ...member })
  return { kind: 'inline', chunkId, sealedSize: sealed.length }
}

/** Writes the parts of an assembled body, in their order. */
export function writeParts(
  draft: Draft,
  { bucket, id }: BodyPlace,
  parts: readonly ObjectPart[],
): BodyRecord {
  const pageStarts: number[] = []
  let bytes = 0
  for (let page = 0; page * PARTS_PER_PAGE < parts.length; page++) {
    const first = page * PARTS_PER_PAGE
    const here = parts.slice(first, first + PARTS_PER_PAGE)
    draft.put(bodyKeys.partPage(bucket.id, id, page), { parts: here })
    if (page > 0) pageStarts.push(bytes)
    bytes = here.reduce((sum, { size }) => sum + size, bytes)
  }
  const isCompressed = parts.some(({ body }) => body.kind === 'chunks' && body.compression !== undefined)
  // Parts that were assembled below the level at which they have numbers are copied by older nodes, too.
  const isPlaced = pageStarts.length > 0 && parts.every(({ partNumber }) => partNumber !== undefined)
  const body = { kind: 'parts', count: parts.length, ...(isPlaced ? { pageStarts } : {}) } as const
  return compressed(body, isCompressed)
}

export function readParts(view: View, { bucket, id }: BodyPlace, count: number): readonly ObjectPart[] {
  const parts: ObjectPart[] = []
  for (let page = 0; page * PARTS_PER_PAGE < count; page++) {
    const row = view.get(bodyKeys.partPage(bucket.id, id, page))
    assert(row !== undefined, 'a page of parts lives as long as its object')
    parts.push(...row.parts)
  }
  return parts
}

/** Copies a body to another id, in this bucket or another one of the tenant. No bytes are copied. */
export function copyBody(
  draft: Draft,
  { from, to }: { readonly from: BodyPlace; readonly to: BodyPlace },
  body: BodyRecord,
): BodyRecord {
  if (body.kind !== 'parts') return copyPiece(draft, { from, to }, body)
  const parts = readParts(draft, from, body.count).map((part, n) => {
    const partId = `${to.id}-${n}`
    const places = { from: { ...from, id: part.partId }, to: { ...to, id: partId } }
    return { ...part, partId, body: copyPiece(draft, places, part.body) }
  })
  return writeParts(draft, to, parts)
}

function copyPiece(
  draft: Draft,
  { from, to }: { readonly from: BodyPlace; readonly to: BodyPlace },
  piece: PieceRecord,
): PieceRecord {
  switch (piece.kind) {
    case 'empty':
      return piece
    case 'inline': {
      const row = draft.get(bodyKeys.inlineBody(from.bucket.id, from.id))
      assert(row !== undefined, 'an inline body lives as long as its version')
      return putInline(draft, to, { chunkId: piece.chunkId, ...row })
    }
    case 'chunks': {
      const links = readManifest(draft, from.bucket.id, from.id, piece.count)
      claimAgain(draft, to.bucket.tenantId, links)
      writeManifest(draft, to.bucket.id, to.id, links)
      return piece
    }
  }
}

/** Discards the body of a version. A download may be reading it, so its rows stay until they are released. */
export function discardBody(draft: Draft, place: BodyPlace, body: BodyRecord, context: ApplyContext): void {
  const { featureLevel, index } = context
  if (featureLevel < KEEPS_BODIES_LEVEL) return dropBody(draft, place, body, context)
  if (body.kind === 'empty') return
  const { bucket, id } = place
  const about = { id, tenantId: bucket.tenantId, bucketId: bucket.id }
  draft.put(bodyKeys.discarded(index, id), { ...about, body, discardedAt: index })
}

/** Drops the body of an upload part: no row names it any more, and no download can be reading it. */
export function dropBody(draft: Draft, place: BodyPlace, body: BodyRecord, context: ApplyContext): void {
  const isLarge = body.kind === 'parts' || (body.kind === 'chunks' && body.count > DROPPED_LINKS_MAX)
  const { bucket, id } = place
  if (isLarge) {
    const what = { kind: 'body', body } as const
    draft.put(bodyKeys.discard(id), { id, tenantId: bucket.tenantId, bucketId: bucket.id, what })
  } else dropPiece(draft, { tenantId: bucket.tenantId, bucketId: bucket.id, bodyId: id }, body, context)
}

export interface PiecePlace {
  readonly tenantId: string
  readonly bucketId: string
  readonly bodyId: VersionId
}

function dropInline(draft: Draft, { tenantId, bucketId, bodyId }: PiecePlace, sealedSize: number): void {
  const key = bodyKeys.inlineBody(bucketId, bodyId)
  const isExchanging = draft.get(tenantKeys.tenant(tenantId))?.formerKey !== undefined
  const row = isExchanging ? draft.get(key) : undefined
  if (row !== undefined)
    countSealed(draft, tenantId, { inlineBytes: -sealedSize, ...keyVersionMember(keyVersionOf(row)) })
  draft.remove(key)
  countTenant(draft, tenantId, { inlineBytes: -sealedSize })
}

/** Removes the piece at once, regardless of its size. */
export function dropPiece(
  draft: Draft,
  { tenantId, bucketId, bodyId }: PiecePlace,
  body: PieceRecord,
  context: ApplyContext,
): void {
  switch (body.kind) {
    case 'empty':
      return
    case 'inline':
      return dropInline(draft, { tenantId, bucketId, bodyId }, body.sealedSize)
    case 'chunks': {
      const links = dropManifest(draft, bucketId, bodyId, body.count)
      assert(links.length === body.count, 'a manifest holds as many links as its body says')
      releaseChunks(draft, tenantId, links, context)
      return
    }
  }
}
