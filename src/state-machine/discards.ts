/**
 * Discarded bodies and parts: released bit by bit.
 *
 * Owns: how much one entry releases. Knows nothing of: who asks; anybody may, any number of times.
 * Rule: a step takes what stands at the end, and the row says what is left, so the work goes on wherever it was left.
 */
import { assert } from './assert.ts'
import { dropBody, dropPiece, PARTS_PER_PAGE, type PiecePlace } from './bodies.ts'
import { releaseChunks } from './chunks.ts'
import type { Command } from './commands.ts'
import { ITEMS_PER_COMMAND_MAX } from './copies.ts'
import type { Draft } from './draft.ts'
import { keys } from './keys.ts'
import { dropLastPage, LINKS_PER_PAGE } from './manifests.ts'
import type { BodyRecord, DiscardRecord, PieceRecord } from './records.ts'
import { type Accepted, accept, type Refused, refuse } from './reply.ts'
import type { ApplyContext } from './view.ts'

type ReleaseCommand = Extract<Command, { type: 'releaseDiscarded' }>

export function releaseDiscarded(
  draft: Draft,
  command: ReleaseCommand,
  context: ApplyContext,
): Accepted<{ readonly isDone: boolean }> | Refused {
  const { length } = command.partNumbers
  if (length > ITEMS_PER_COMMAND_MAX)
    return refuse(
      'invalid_argument',
      `Cannot release ${length} parts at once, at most ${ITEMS_PER_COMMAND_MAX}`,
    )
  const row = draft.get(keys.discard(command.id))
  if (row === undefined) return accept({ isDone: true })
  const left =
    row.what.kind === 'body'
      ? stepOfBody(draft, row, row.what.body, context)
      : stepOfUpload(draft, row, command, context)
  if (left === null) draft.remove(keys.discard(row.id))
  else draft.put(keys.discard(row.id), { ...row, what: left })
  return accept({ isDone: left === null })
}

/** Null: nothing is left. */
function stepOfBody(
  draft: Draft,
  { id, tenantId, bucketId }: DiscardRecord,
  body: BodyRecord,
  context: ApplyContext,
): DiscardRecord['what'] | null {
  const place = { tenantId, bucketId, bodyId: id }
  if (body.kind !== 'parts') {
    const rest = stepOfPiece(draft, place, body, context)
    return rest === null ? null : { kind: 'body', body: rest }
  }
  const page = Math.ceil(body.count / PARTS_PER_PAGE) - 1
  const pageKey = keys.partPage(bucketId, id, page)
  const row = draft.get(pageKey)
  const last = row?.parts.at(-1)
  assert(row !== undefined && last !== undefined, 'a page of parts is there until its last part is released')
  const rest = stepOfPiece(draft, { ...place, bodyId: last.partId }, last.body, context)
  const before = row.parts.slice(0, -1)
  const parts = rest === null ? before : [...before, { ...last, body: rest }]
  if (parts.length === 0) draft.remove(pageKey)
  else draft.put(pageKey, { parts })
  const count = rest === null ? body.count - 1 : body.count
  return count === 0 ? null : { kind: 'body', body: { kind: 'parts', count } }
}

/** One page of a manifest at most. Null: nothing is left. */
function stepOfPiece(
  draft: Draft,
  place: PiecePlace,
  piece: PieceRecord,
  context: ApplyContext,
): PieceRecord | null {
  if (piece.kind !== 'chunks' || piece.count <= LINKS_PER_PAGE) {
    dropPiece(draft, place, piece, context)
    return null
  }
  const links = dropLastPage(draft, place.bucketId, place.bodyId, piece.count)
  releaseChunks(draft, place.tenantId, links, context)
  return { kind: 'chunks', count: piece.count - links.length }
}

/** The caller looks which parts are left; after its upload has ended none is added any more. */
function stepOfUpload(
  draft: Draft,
  { id: uploadId, tenantId, bucketId }: DiscardRecord,
  { partNumbers }: ReleaseCommand,
  context: ApplyContext,
): DiscardRecord['what'] | null {
  if (partNumbers.length === 0) return null
  for (const partNumber of partNumbers) {
    const key = keys.part(bucketId, uploadId, partNumber)
    const part = draft.get(key)
    if (part === undefined) continue
    draft.remove(key)
    dropBody(draft, { bucket: { id: bucketId, tenantId }, id: part.partId }, part.body, context)
  }
  return { kind: 'upload' }
}
