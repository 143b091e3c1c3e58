/**
 * Walks the audit log: backwards for those who look for something, forwards for those who check the chain.
 *
 * Owns: unpacking of batches, and how much one page reads. Knows nothing of: which rows are wanted.
 * Rules: a page reads LINKS_PER_PAGE links at most, whatever is found in them, and says where to go on; every link is
 * verified before anybody sees it; both walk one consistent cut.
 */
import { hash } from 'node:crypto'
import { zstdDecompressSync } from 'node:zlib'
import { ChainCheck, NO_HEAD, type NotedHead } from '../state-machine/audit-chain.ts'
import type { AuditLinkRecord, AuditRow } from '../state-machine/audit-records.ts'
import { auditSequenceOf, keys, ranges } from '../state-machine/keys.ts'
import type { RowKey } from '../state-machine/view.ts'
import { cutView } from './cut-view.ts'
import type { OpenState } from './open-state.ts'
import { decodeRow, keyBytes } from './row-codec.ts'
import type { AuditPage, AuditPlace, AuditQuery, AuditVerdict, PlacedAuditRow } from './state-reader.ts'
import { assertAscending, type Database, type DatabaseSnapshot } from './state-rows.ts'

const LINKS_PER_PAGE = 1_000
/** Plain rows of a page: parsed, and perhaps answered. */
const CHARACTERS_PER_PAGE = 4 * 1024 * 1024
/** Far above what any node packs. */
const PLAIN_BYTES_MAX = 64 * 1024 * 1024

interface PlacedLink {
  readonly sequence: number
  readonly link: AuditLinkRecord
}

export async function auditPage(state: OpenState, query: AuditQuery): Promise<AuditPage> {
  const snapshot = state.db.snapshot()
  try {
    const top = query.from ?? { sequence: placeBefore(state.db, snapshot, query.until), below: null }
    return await readPage(backwards(state.db, snapshot, top.sequence), query, top)
  } finally {
    await snapshot.close()
  }
}

/** Null when the state was closed meanwhile. */
export async function verifyAudit(state: OpenState, noted: NotedHead | null): Promise<AuditVerdict | null> {
  const snapshot = state.db.snapshot()
  try {
    const head = cutView(state.db, snapshot).get(keys.auditHead()) ?? NO_HEAD
    const check = new ChainCheck((text) => hash('sha256', text), head, noted)
    let links = 0
    for await (const { sequence, link } of forwards(state.db, snapshot)) {
      if (state.isClosing) return null
      check.take(sequence, link, unpack)
      links++
    }
    return {
      links,
      rows: check.rows,
      first: head.first,
      next: head.next,
      hash: head.hash,
      faults: check.finish(),
    }
  } finally {
    await snapshot.close()
  }
}

async function readPage(
  links: AsyncIterable<PlacedLink>,
  { since, limit, matches }: AuditQuery,
  top: AuditPlace,
): Promise<AuditPage> {
  const found: PlacedAuditRow[] = []
  let scanned = 0
  let characters = 0
  for await (const { sequence, link } of links) {
    if (link.time < since) return { rows: found, next: null }
    const rows = rowsOf(link)
    const below = sequence === top.sequence && top.below !== null ? top.below : rows.length
    for (let n = below - 1; n >= 0; n--) {
      const text = rows[n] ?? ''
      characters += text.length
      const row = JSON.parse(text) as AuditRow
      // A node whose clock is ahead says nothing of the future.
      const time = Math.min(row.time, link.time)
      if (matches(row)) found.push({ id: idOf(sequence, link, n), row: { ...row, time } })
      if (found.length === limit) return { rows: found, next: { sequence, below: n } }
    }
    scanned++
    if (scanned >= LINKS_PER_PAGE || characters >= CHARACTERS_PER_PAGE)
      return { rows: found, next: { sequence: sequence - 1, below: null } }
  }
  return { rows: found, next: null }
}

/** The place in the chain, and in the batch. */
function idOf(sequence: number, { packed }: AuditLinkRecord, n: number): string {
  return packed === null ? `au_${sequence}` : `au_${sequence}-${n}`
}

function rowsOf({ text, packed }: AuditLinkRecord): readonly string[] {
  return packed === null ? [text] : zstdDecompressSync(packed, LIMITS).toString('utf8').split('\n')
}

const LIMITS = { maxOutputLength: PLAIN_BYTES_MAX }

function unpack(packed: Uint8Array): string | null {
  try {
    return zstdDecompressSync(packed, LIMITS).toString('utf8')
  } catch {
    return null
  }
}

/** The last link before that time; times of links ascend. */
function placeBefore(db: Database, snapshot: DatabaseSnapshot, until: number | null): number {
  const view = cutView(db, snapshot)
  const { first, next } = view.get(keys.auditHead()) ?? NO_HEAD
  if (until === null) return next - 1
  let low = first
  let high = next
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    const link = view.get(keys.auditLink(middle))
    if (link !== undefined && link.time < until) low = middle + 1
    else high = middle
  }
  return low - 1
}

async function* backwards(
  db: Database,
  snapshot: DatabaseSnapshot,
  sequence: number,
): AsyncGenerator<PlacedLink> {
  if (sequence < 0) return
  let before: Uint8Array | null = null
  const { start } = ranges.auditLinks()
  const range = { gte: keyBytes(start), lte: keyBytes(keys.auditLink(sequence)), reverse: true }
  for await (const [bytes, value] of db.iterator({ ...range, snapshot })) {
    if (before !== null) assertAscending(bytes, before)
    before = bytes
    yield placed(bytes, value)
  }
}

async function* forwards(db: Database, snapshot: DatabaseSnapshot): AsyncGenerator<PlacedLink> {
  let before: Uint8Array = new Uint8Array()
  const { start, end } = ranges.auditLinks()
  for await (const [bytes, value] of db.iterator({ gte: keyBytes(start), lt: keyBytes(end), snapshot })) {
    assertAscending(before, bytes)
    before = bytes
    yield placed(bytes, value)
  }
}

function placed(bytes: Buffer, value: Buffer): PlacedLink {
  const key: RowKey<'auditLink'> = bytes.toString('utf8')
  return { sequence: auditSequenceOf(key), link: decodeRow(key, value) }
}
