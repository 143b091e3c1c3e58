/**
 * Discarded bodies and parts: released bit by bit.
 *
 * Owns: how much one entry releases. Knows nothing of: who asks; anybody may, any number of times.
 * Rule: a step takes what stands at the end, and the row says what is left, so the work goes on wherever it was left.
 */
import { assert } from './assert.ts'
import { DROPPED_LINKS_MAX, dropBody, dropPiece, PARTS_PER_PAGE, type PiecePlace } from './bodies.ts'
import { releaseChunks } from './chunks.ts'
import type { Command } from './commands.ts'
import { ITEMS_PER_COMMAND_MAX } from './copies.ts'
import type { Draft } from './draft.ts'
import { keys } from './keys.ts'
import { cutManifest } from './manifests.ts'
import type { BodyRecord, DiscardRecord, PieceRecord } from './records.ts'
import { type Accepted, accept, type Refused, refuse } from './reply.ts'
import { takeParts } from './upload-parts.ts'
import type { ApplyContext } from './view.ts'

/** Links that one entry releases: each of them changes several rows, and others wait for their turn. */
export const WORK_PER_STEP = 256

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
      : stepOfPiece(draft, place, { body, most: WORK_PER_STEP }, context)
  return rest === null ? null : { kind: 'body', body: rest }
}

/** The last parts of the last page, and of the one that is too long for this step its last links. */
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
  for (let work = 0; work < WORK_PER_STEP; ) {
    const last = parts.pop()
    if (last === undefined) break
    const piece = { ...place, bodyId: last.partId }
    const rest = stepOfPiece(draft, piece, { body: last.body, most: WORK_PER_STEP - work }, context)
    if (rest !== null) parts.push({ ...last, body: rest })
    work += rest === null ? workOf(last.body) : WORK_PER_STEP
  }
  if (parts.length === 0) draft.remove(pageKey)
  else draft.put(pageKey, { parts })
  const left = count - row.parts.length + parts.length
  return left === 0 ? null : { kind: 'parts', count: left }
}

/** In links; a piece that has none is work too. */
function workOf(piece: PieceRecord): number {
  return piece.kind === 'chunks' ? piece.count : 1
}

/** At most `most` links of it. Null: nothing is left. */
function stepOfPiece(
  draft: Draft,
  place: PiecePlace,
  { body, most }: { readonly body: PieceRecord; readonly most: number },
  context: ApplyContext,
): PieceRecord | null {
  if (body.kind !== 'chunks' || body.count <= most) {
    dropPiece(draft, place, body, context)
    return null
  }
  const links = cutManifest(draft, { ...place, count: body.count }, most)
  releaseChunks(draft, place.tenantId, links, context)
  return { kind: 'chunks', count: body.count - links.length }
}

/** The caller looks which parts are left, the row counts them: nobody can take some for all, nor is all that is named taken. */
function stepOfUpload(
  draft: Draft,
  { id: uploadId, tenantId, bucketId }: DiscardRecord,
  left: Extract<DiscardRecord['what'], { kind: 'upload' }>,
  { command, context }: { readonly command: ReleaseCommand; readonly context: ApplyContext },
): DiscardRecord['what'] | null {
  let { partCount, bytes } = left
  let work = 0
  for (const partNumber of command.partNumbers) {
    if (work >= WORK_PER_STEP) break
    const [part] = takeParts(draft, { bucketId, uploadId }, [partNumber])
    if (part === undefined) continue
    work += Math.min(workOf(part.body), DROPPED_LINKS_MAX)
    dropBody(draft, { bucket: { id: bucketId, tenantId }, id: part.partId }, part.body, context)
    partCount--
    bytes -= part.size
  }
  assert(partCount >= 0 && bytes >= 0, 'no more parts are left than were discarded')
  return partCount === 0 ? null : { kind: 'upload', partCount, bytes }
}
