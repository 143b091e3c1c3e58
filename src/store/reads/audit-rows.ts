/**
 * The part of the audit log that lies in rows: links that no segment holds yet, and the rows that name segments.
 *
 * Owns: bounded reads of either. Knows nothing of: what is in links and segments.
 * Rule: every row is verified and follows in order before it is used; each read is one consistent cut.
 */
import type { View } from '../../state-machine/base/view.ts'
import type { RowKey } from '../../state-machine/base/row-key.ts'
import { auditRanges, auditRowKeys, auditSequenceOf } from '../../state-machine/audit/keys.ts'
import { auditHead } from '../../state-machine/audit/append.ts'
import type { AuditLinkRecord, AuditSegmentRecord } from '../../state-machine/audit/records.ts'
import { rowsBegin } from '../../state-machine/audit/audit-segments.ts'
import { decodeRow, keyBytes } from '../rows/row-codec.ts'
import { assertAscending, type Database } from '../rows/state-rows.ts'
import { lastRow } from './row-page.ts'
import type { StateReader } from './state-reader.ts'

/** A row of the audit log, and its place in the chain. */
export interface PlacedLink {
  readonly sequence: number
  readonly link: AuditLinkRecord
}

/** Links of one read. */
const LINKS_PER_READ = 256
/** And at most so many stored bytes, or one link. */
const BYTES_PER_READ = 1024 * 1024

/** Links that are rows, those before `sequence`, the newest first; none only where none is left. */
export async function auditLinksBefore(state: StateReader, sequence: number): Promise<readonly PlacedLink[]> {
  // The oldest row. Below it LevelDB would walk over the tombstones of all removed links.
  const { first } = rowsBegin(auditHead(state))
  if (sequence <= first) return []
  const range = {
    gte: keyBytes(auditRowKeys.auditLink(first)),
    lt: keyBytes(auditRowKeys.auditLink(sequence)),
    reverse: true,
  }
  return state.lease(({ db }) => read(db, range, (before, bytes) => assertAscending(bytes, before)))
}

/** Links that are rows, from `sequence` on, the oldest first. */
export function auditLinksFrom(
  state: Pick<StateReader, 'lease'>,
  sequence: number,
): Promise<readonly PlacedLink[]> {
  const { end } = auditRanges.auditLinks()
  const range = { gte: keyBytes(auditRowKeys.auditLink(sequence)), lt: keyBytes(end) }
  return state.lease(({ db }) => read(db, range, (before, bytes) => assertAscending(before, bytes)))
}

/** The last segment that begins before `sequence`. */
export async function auditSegmentBefore(
  state: StateReader,
  sequence: number,
): Promise<AuditSegmentRecord | null> {
  if (sequence <= 0) return null
  const { start } = auditRanges.auditSegments()
  return lastRow(state, { start, end: auditRowKeys.auditSegment(sequence) })
}

/** The link or segment that is trimmed next is no younger than this. Null: the log is empty. */
export function oldestAuditTime(view: View): number | null {
  const { first, next } = auditHead(view)
  if (first === next) return null
  const segment = view.get(auditRowKeys.auditSegment(first))
  return segment?.lastTime ?? view.get(auditRowKeys.auditLink(first))?.time ?? null
}

async function read(
  db: Database,
  range: { readonly gte: Buffer; readonly lt: Buffer; readonly reverse?: boolean },
  inOrder: (before: Uint8Array, bytes: Uint8Array) => void,
): Promise<readonly PlacedLink[]> {
  const links: PlacedLink[] = []
  let before: Uint8Array | null = null
  let stored = 0
  for await (const [bytes, value] of db.iterator({ ...range, limit: LINKS_PER_READ, fillCache: false })) {
    if (before !== null) inOrder(before, bytes)
    before = bytes
    const key: RowKey<AuditLinkRecord> = bytes.toString('utf8')
    links.push({ sequence: auditSequenceOf(key), link: decodeRow(key, value) })
    stored += value.length
    if (stored >= BYTES_PER_READ) break
  }
  return links
}
