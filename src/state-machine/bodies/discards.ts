/**
 * Releases discarded bodies and parts in steps.
 *
 * Owns: how much one entry releases, and that nothing is released before its time. Knows nothing of: the proposers; any node may
 * propose it any number of times. Rule: a step releases from the end, and the row holds the rest, so the work can stop and continue.
 */
import { bodyKeys } from './keys.ts'
import type { ApplyContext } from '../base/view.ts'
import type { BodyCommand } from './commands.ts'
import { assert } from '../base/assert.ts'
import { DROPPED_LINKS_MAX, dropBody, dropPiece, PARTS_PER_PAGE, type PiecePlace } from './bodies.ts'
import { releaseChunks } from '../chunks/chunks.ts'
import { ITEMS_PER_COMMAND_MAX, tooMany } from '../base/batch-bound.ts'
import type { BodyRecord, DiscardRecord, PieceRecord } from './records.ts'
import type { Draft } from '../base/draft.ts'
import { cutManifest } from './manifests.ts'
import { type Accepted, accept, type Refused, refuse } from '../base/reply.ts'
import { takeParts } from './upload-parts.ts'

/** Links that one entry releases: each of them changes several rows, and other commands wait meanwhile. */
export const WORK_PER_STEP = 256

type ReleaseCommand = Extract<BodyCommand, { type: 'releaseDiscarded' }>
type What = DiscardRecord['what']

/** `left`: the rest of the body, or null. `work`: the links that were released; a piece without links counts as one. */
interface Step<L> {
  readonly left: L | null
  readonly work: number
}

/** Releases a step of a body that no download reads, or of the parts of an upload. */
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
  const row = draft.get(bodyKeys.discard(command.id))
  if (row === undefined) return accept({ isDone: true })
  const left =
    row.what.kind === 'body'
      ? whatOf(stepOfBody(draft, row, { body: row.what.body, most: WORK_PER_STEP }, context).left)
      : stepOfUpload(draft, row, row.what, { command, context })
  if (left === null) draft.remove(bodyKeys.discard(row.id))
  else draft.put(bodyKeys.discard(row.id), { ...row, what: left })
  return accept({ isDone: left === null })
}

function whatOf(body: BodyRecord | null): What | null {
  return body === null ? null : { kind: 'body', body }
}

/** Regardless of the items, an entry releases at most WORK_PER_STEP links, and nothing that was discarded after `upTo`. */
export function releaseDue(
  draft: Draft,
  { upTo, items }: Extract<BodyCommand, { type: 'releaseDue' }>,
  context: ApplyContext,
): Accepted<{ readonly released: number }> | Refused {
  const fault = tooMany('release bodies', items.length)
  if (fault !== null) return fault
  let released = 0
  let work = 0
  for (const { discardedAt, id } of items) {
    if (work >= WORK_PER_STEP) break
    const key = bodyKeys.discarded(discardedAt, id)
    const row = discardedAt <= upTo ? draft.get(key) : undefined
    if (row === undefined) continue
    const step = stepOfBody(draft, row, { body: row.body, most: WORK_PER_STEP - work }, context)
    if (step.left === null) draft.remove(key)
    else draft.put(key, { ...row, body: step.left })
    work += step.work
    released++
  }
  return accept({ released })
}

function stepOfBody(
  draft: Draft,
  { id, tenantId, bucketId }: Pick<DiscardRecord, 'id' | 'tenantId' | 'bucketId'>,
  { body, most }: { readonly body: BodyRecord; readonly most: number },
  context: ApplyContext,
): Step<BodyRecord> {
  const place = { tenantId, bucketId, bodyId: id }
  if (body.kind === 'parts') return stepOfParts(draft, place, { count: body.count, most }, context)
  return stepOfPiece(draft, place, { body, most }, context)
}

/** Releases the last parts of the last page; of a part that is too long for this step, only its last links. */
function stepOfParts(
  draft: Draft,
  place: PiecePlace,
  { count, most }: { readonly count: number; readonly most: number },
  context: ApplyContext,
): Step<BodyRecord> {
  const pageKey = bodyKeys.partPage(place.bucketId, place.bodyId, Math.ceil(count / PARTS_PER_PAGE) - 1)
  const row = draft.get(pageKey)
  assert(row !== undefined, 'a page of parts is there until its last part is released')
  const parts = [...row.parts]
  let work = 0
  while (work < most) {
    const last = parts.pop()
    if (last === undefined) break
    const piece = { ...place, bodyId: last.partId }
    const step = stepOfPiece(draft, piece, { body: last.body, most: most - work }, context)
    work += step.work
    if (step.left === null) continue
    parts.push({ ...last, body: step.left })
    break
  }
  if (parts.length === 0) draft.remove(pageKey)
  else draft.put(pageKey, { parts })
  const left = count - row.parts.length + parts.length
  return { left: left === 0 ? null : { kind: 'parts', count: left }, work }
}

/** Releases at most `most` links of the piece. */
function stepOfPiece(
  draft: Draft,
  place: PiecePlace,
  { body, most }: { readonly body: PieceRecord; readonly most: number },
  context: ApplyContext,
): Step<PieceRecord> {
  if (body.kind !== 'chunks' || body.count <= most) {
    dropPiece(draft, place, body, context)
    return { left: null, work: body.kind === 'chunks' ? body.count : 1 }
  }
  const links = cutManifest(draft, { ...place, count: body.count }, most)
  releaseChunks(draft, place.tenantId, links, context)
  return { left: { kind: 'chunks', count: body.count - links.length }, work: links.length }
}

/** The caller names parts, and the row counts the rest: so a part that was not named is never forgotten, and one step is bounded. */
function stepOfUpload(
  draft: Draft,
  { id: uploadId, tenantId, bucketId }: DiscardRecord,
  left: Extract<What, { kind: 'upload' }>,
  { command, context }: { readonly command: ReleaseCommand; readonly context: ApplyContext },
): What | null {
  let { partCount, bytes } = left
  let work = 0
  for (const partNumber of command.partNumbers) {
    if (work >= WORK_PER_STEP) break
    const [part] = takeParts(draft, { bucketId, uploadId }, [partNumber])
    if (part === undefined) continue
    work += part.body.kind === 'chunks' ? Math.min(part.body.count, DROPPED_LINKS_MAX) : 1
    dropBody(draft, { bucket: { id: bucketId, tenantId }, id: part.partId }, part.body, context)
    partCount--
    bytes -= part.size
  }
  assert(partCount >= 0 && bytes >= 0, 'no more parts are left than were discarded')
  return partCount === 0 ? null : { kind: 'upload', partCount, bytes }
}
