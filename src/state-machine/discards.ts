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
      : stepOfUpload(draft, row, row.what, { command, context })
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
  const rest =
    body.kind === 'parts'
      ? stepOfParts(draft, place, body.count, context)
      : stepOfPiece(draft, place, body, context)
  return rest === null ? null : { kind: 'body', body: rest }
}

/** The last parts of the last page, as many as make one page of a manifest, and one at least. */
function stepOfParts(
  draft: Draft,
  place: PiecePlace,
  count: number,
  context: ApplyContext,
): BodyRecord | null {
  const pageKey = keys.partPage(place.bucketId, place.bodyId, Math.ceil(count / PARTS_PER_PAGE) - 1)
  const row = draft.get(pageKey)
  assert(row !== undefined, 'a page of parts is there until its last part is released')
  const parts = [...row.parts]
  let work = 0
  for (let last = parts.pop(); last !== undefined; last = parts.pop()) {
    const isFirst = work === 0
    work += 1 + linksIn(last.body)
    const rest =
      isFirst || work <= LINKS_PER_PAGE
        ? stepOfPiece(draft, { ...place, bodyId: last.partId }, last.body, context)
        : last.body
    if (rest === null) continue
    parts.push({ ...last, body: rest })
    break
  }
  if (parts.length === 0) draft.remove(pageKey)
  else draft.put(pageKey, { parts })
  const left = count - row.parts.length + parts.length
  return left === 0 ? null : { kind: 'parts', count: left }
}

function linksIn(piece: PieceRecord): number {
  return piece.kind === 'chunks' ? piece.count : 0
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

/** The caller looks which parts are left, the row counts them: nobody can take some for all. */
function stepOfUpload(
  draft: Draft,
  { id: uploadId, tenantId, bucketId }: DiscardRecord,
  left: Extract<DiscardRecord['what'], { kind: 'upload' }>,
  { command, context }: { readonly command: ReleaseCommand; readonly context: ApplyContext },
): DiscardRecord['what'] | null {
  let { partCount, bytes } = left
  for (const partNumber of command.partNumbers) {
    const key = keys.part(bucketId, uploadId, partNumber)
    const part = draft.get(key)
    if (part === undefined) continue
    draft.remove(key)
    dropBody(draft, { bucket: { id: bucketId, tenantId }, id: part.partId }, part.body, context)
    partCount--
    bytes -= part.size
  }
  assert(partCount >= 0 && bytes >= 0, 'no more parts are left than were discarded')
  return partCount === 0 ? null : { kind: 'upload', partCount, bytes }
}
