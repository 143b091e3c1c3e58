/**
 * Segments of the audit log: links that were moved from rows of the state into a chunk with copies.
 *
 * Owns: sealAudit, setAuditKeys, what trimming does to segments. Knows nothing of: how a segment is encoded, when one is made.
 * Rules: the row of a link is removed in the entry that registers a segment with exactly that link, never before; segments join
 * without a gap; the chunk of a segment has one reference, from the segment's row.
 */
import type { ApplyContext, View } from '../base/view.ts'
import { auditRowKeys } from './keys.ts'
import type { AuditCommand } from './commands.ts'
import { assert } from '../base/assert.ts'
import { NO_HEAD } from './audit-chain.ts'
import {
  AUDIT_INDEX_BYTES_MAX,
  AUDIT_INDEX_CODES_MAX,
  AUDIT_SEGMENT_LINKS_MAX,
  AUDIT_SEGMENT_SPOOLS_MAX,
  AUDIT_TRIM_SEGMENTS_MAX,
  type AuditHeadRecord,
  type AuditKeysRecord,
  type AuditSegmentRecord,
} from './records.ts'
import { AUDIT_OWNER } from '../base/record-ids.ts'
import { claimChunks, endedBirths, releaseChunks, unsafeChunks } from '../chunks/chunks.ts'
import type { Draft } from '../base/draft.ts'
import { type Accepted, accept, type Refused, refuse } from '../base/reply.ts'

type SealCommand = Extract<AuditCommand, { type: 'sealAudit' }>

/** The oldest link that is a row, and the hash of the link before it. */
export function rowsBegin({ first, anchor, sealed }: AuditHeadRecord): {
  readonly first: number
  readonly anchor: string
} {
  return sealed === undefined || first >= sealed.next
    ? { first, anchor }
    : { first: sealed.next, anchor: sealed.hash }
}

/** The first writer wins: every caller gets the stored keys back. `rewrapTenantKeys` seals them again. */
export function setAuditKeys(
  draft: Draft,
  { keys: wanted }: Extract<AuditCommand, { type: 'setAuditKeys' }>,
): Accepted<AuditKeysRecord> {
  const present = draft.get(auditRowKeys.auditKeys())
  if (present === undefined) draft.put(auditRowKeys.auditKeys(), wanted)
  return accept(present ?? wanted)
}

export function sealAudit(
  draft: Draft,
  command: SealCommand,
  context: ApplyContext,
): Accepted<null> | Refused {
  const { segment, chunk, copiesMin } = command
  const head = draft.get(auditRowKeys.auditHead()) ?? NO_HEAD
  const fault = boundFault(command) ?? linkFault(draft, head, segment)
  if (fault !== null) return refuse('precondition_failed', `Cannot seal audit rows: ${fault}`)
  const body = { kind: 'chunks', chunks: [chunk], copiesMin } as const
  if (endedBirths(draft, body.chunks).length > 0)
    return refuse('precondition_failed', 'Cannot seal audit rows: the session of the upload has ended')
  if (unsafeChunks(draft, AUDIT_OWNER, body).length > 0)
    return refuse('precondition_failed', 'Cannot seal audit rows: the segment has too few copies')
  claimChunks(draft, { tenantId: AUDIT_OWNER, body }, context)
  const { first, next, hash } = segment
  for (let sequence = first; sequence < next; sequence++) draft.remove(auditRowKeys.auditLink(sequence))
  draft.put(auditRowKeys.auditSegment(first), segment)
  draft.put(auditRowKeys.auditHead(), { ...head, sealed: { next, hash } })
  return accept(null)
}

function boundFault({ segment, chunk }: SealCommand): string | null {
  const { first, next, spools, index } = segment
  if (!(next > first && next - first <= AUDIT_SEGMENT_LINKS_MAX))
    return `a segment has 1 to ${AUDIT_SEGMENT_LINKS_MAX} links`
  const isLarge =
    spools.length > AUDIT_SEGMENT_SPOOLS_MAX ||
    index.names.length > AUDIT_INDEX_BYTES_MAX ||
    (index.codes?.length ?? 0) > AUDIT_INDEX_CODES_MAX
  if (isLarge) return 'its row is too large'
  if (chunk.existing || chunk.id !== segment.chunkId || chunk.size !== segment.size)
    return 'its chunk is not the one that its row names'
  return null
}

/** Hashes join the links, so checking both ends and the length proves that the segment holds exactly the links of the rows. */
function linkFault(view: View, head: AuditHeadRecord, segment: AuditSegmentRecord): string | null {
  const { first, anchor } = rowsBegin(head)
  if (segment.first !== first || segment.anchor !== anchor) return `the rows begin at link ${first}`
  if (segment.next > head.next) return `the rows end before link ${head.next}`
  const [oldest, newest] = [
    view.get(auditRowKeys.auditLink(first)),
    view.get(auditRowKeys.auditLink(segment.next - 1)),
  ]
  assert(oldest !== undefined && newest !== undefined, 'every link from the first row to the head is a row')
  const isEqual =
    newest.hash === segment.hash && oldest.time === segment.firstTime && newest.time === segment.lastTime
  return isEqual ? null : 'its links are not those in the rows'
}

/** Removes whole segments whose newest link is older than `before`. */
export function trimSegments(
  draft: Draft,
  head: AuditHeadRecord,
  before: number,
  context: ApplyContext,
): { readonly trimmed: number; readonly isMore: boolean } {
  let { first, anchor } = head
  const end = rowsBegin(head).first
  let segments = 0
  for (; first < end; segments++) {
    const key = auditRowKeys.auditSegment(first)
    const segment = draft.get(key)
    assert(segment !== undefined, 'every link before the rows is in a segment')
    if (segment.lastTime >= before || segments === AUDIT_TRIM_SEGMENTS_MAX) break
    forgetSpools(draft, segment)
    const { chunkId: id, size } = segment
    releaseChunks(draft, AUDIT_OWNER, [{ id, size }], context)
    draft.remove(key)
    first = segment.next
    anchor = segment.hash
  }
  if (segments > 0) draft.put(auditRowKeys.auditHead(), { ...head, first, anchor })
  return { trimmed: first - head.first, isMore: segments === AUDIT_TRIM_SEGMENTS_MAX && first < end }
}

/** Removes the rows of spools whose last batch is in this segment: rows that they still hold are older than those that are kept. */
function forgetSpools(draft: Draft, { spools }: AuditSegmentRecord): void {
  for (const { node, spool, time } of spools) {
    const key = auditRowKeys.auditSpool(node, spool)
    if (draft.get(key)?.time === time) draft.remove(key)
  }
}
