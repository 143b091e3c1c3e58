/**
 * The audit log as far as it lies in rows: links that no segment holds yet, and the rows that name segments.
 *
 * Owns: bounded reads of either. Knows nothing of: what is in links and segments.
 * Rule: every row is verified and follows in order before it is used; each read is one consistent cut.
 */
import type { View } from '../../state-machine/base/view.ts'
import type { RowKey } from '../../state-machine/base/row-key.ts'
import { auditRanges, auditRowKeys, auditSequenceOf } from '../../state-machine/audit/keys.ts'
import { auditHead } from '../../state-machine/audit/append.ts'
import type {
  AuditHeadRecord,
  AuditKeysRecord,
  AuditLinkRecord,
  AuditSegmentRecord,
} from '../../state-machine/audit/records.ts'
import { rowsBegin } from '../../state-machine/audit/audit-segments.ts'
import type { AuditReader, PlacedLink } from './audit-reader.ts'
import type { OpenState } from '../rows/open-state.ts'
import { decodeRow, keyBytes } from '../rows/row-codec.ts'
import { assertAscending, type Database } from '../rows/state-rows.ts'

type Lease = <T>(work: (state: OpenState) => Promise<T>) => Promise<T>

export class LevelAuditReader implements AuditReader {
  readonly #view: View
  readonly #lease: Lease

  constructor(view: View, lease: Lease) {
    this.#view = view
    this.#lease = lease
  }

  head(): AuditHeadRecord {
    return auditHead(this.#view)
  }

  keys(): AuditKeysRecord | undefined {
    return this.#view.get(auditRowKeys.auditKeys())
  }

  link(sequence: number): AuditLinkRecord | undefined {
    return this.#view.get(auditRowKeys.auditLink(sequence))
  }

  linksBefore(sequence: number): Promise<readonly PlacedLink[]> {
    const { first } = rowsBegin(this.head())
    return this.#lease(({ db }) => linksBefore(db, first, sequence))
  }

  linksFrom(sequence: number): Promise<readonly PlacedLink[]> {
    return this.#lease(({ db }) => linksFrom(db, sequence))
  }

  segmentBefore(sequence: number): Promise<AuditSegmentRecord | null> {
    return this.#lease(({ db }) => segmentBefore(db, sequence))
  }

  /** What would be trimmed next is no younger than this. Null: there is nothing. */
  oldestTime(): number | null {
    const { first, next } = this.head()
    if (first === next) return null
    return this.#view.get(auditRowKeys.auditSegment(first))?.lastTime ?? this.link(first)?.time ?? null
  }
}

/** Links of one read. */
const LINKS_PER_READ = 256
/** And so many stored bytes of them, or one link. */
const BYTES_PER_READ = 1024 * 1024

/** `first`: the oldest row. Below it LevelDB would walk over the marks of all that were removed. */
async function linksBefore(db: Database, first: number, sequence: number): Promise<readonly PlacedLink[]> {
  if (sequence <= first) return []
  const range = {
    gte: keyBytes(auditRowKeys.auditLink(first)),
    lt: keyBytes(auditRowKeys.auditLink(sequence)),
    reverse: true,
  }
  return read(db, range, (before, bytes) => assertAscending(bytes, before))
}

async function linksFrom(db: Database, sequence: number): Promise<readonly PlacedLink[]> {
  const { end } = auditRanges.auditLinks()
  const range = { gte: keyBytes(auditRowKeys.auditLink(sequence)), lt: keyBytes(end) }
  return read(db, range, (before, bytes) => assertAscending(before, bytes))
}

async function segmentBefore(db: Database, sequence: number): Promise<AuditSegmentRecord | null> {
  if (sequence <= 0) return null
  const { start } = auditRanges.auditSegments()
  const range = { gte: keyBytes(start), lt: keyBytes(auditRowKeys.auditSegment(sequence)) }
  const [last] = await db.iterator({ ...range, reverse: true, limit: 1 }).all()
  if (last === undefined) return null
  const key: RowKey<AuditSegmentRecord> = last[0].toString('utf8')
  return decodeRow(key, last[1])
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
