/**
 * One page of the audit log, the newest rows first.
 *
 * Owns: how much one page reads, and where the next one begins. Knows nothing of: where links lie, what filters mean.
 * Rules: a page without a row ends only at the end of the log; one with a row ends at its bound of work and says where the
 * next one begins. What cannot be read is named, never left out silently. Nothing more is read for a client that has left.
 */
import type { AuditRow, AuditSegmentRecord } from '../../state-machine/audit/records.ts'
import { type AuditWalkParts, backwards, linksBefore } from './audit-walk.ts'
import type { RowFilter } from './audit-filters.ts'
import { parseRow, textsOf } from '../audit-segments/link-rows.ts'
import type { SealedLink } from '../audit-segments/segment-format.ts'
import { auditHead } from '../../state-machine/audit/append.ts'

/** Where a walk through the audit log continues, towards its beginning. */
export interface AuditPlace {
  readonly sequence: number
  /** Of the rows of that link, those before this one; null: all. */
  readonly below: number | null
}

export interface AuditQuery {
  /** ms since 1970; what was committed from `since` on and before `until`, which null leaves open. */
  readonly since: number
  readonly until: number | null
  /** 1..1000 */
  readonly limit: number
  /** Null: from the newest row on. */
  readonly from: AuditPlace | null
  readonly filter: RowFilter
  /** Aborted when no caller waits for the page any more. */
  readonly signal?: AbortSignal
}

export interface PlacedAuditRow {
  /** Of its place in the chain. */
  readonly id: string
  readonly row: AuditRow
}

export interface AuditPage {
  /** In the reverse order of the chain. Fewer than asked for where the work had an end; none only where nothing matches. */
  readonly rows: readonly PlacedAuditRow[]
  /** Segments that no node can read and that may hold rows that match. */
  readonly gaps: readonly AuditSegmentRecord[]
  readonly next: AuditPlace | null
  readonly segmentsOpened: number
}

/** What a page that has found something may read. */
export interface PageBounds {
  readonly links: number
  /** Of plain rows. */
  readonly characters: number
  readonly segments: number
}

export const PAGE_BOUNDS: PageBounds = { links: 10_000, characters: 16 * 1024 * 1024, segments: 32 }

/** Throws the reason of the signal, and Condition. */
export async function auditPage(
  parts: AuditWalkParts,
  query: AuditQuery,
  bounds: PageBounds = PAGE_BOUNDS,
): Promise<AuditPage> {
  const { from, until, since, filter, signal } = query
  const end = from === null ? await endOf(parts, until) : from.sequence + 1
  const page = new Page(query, bounds)
  for await (const step of backwards(parts, end, filter.mayBeIn)) {
    signal?.throwIfAborted()
    const oldest = step.kind === 'link' ? step.link.time : step.segment.lastTime
    if (oldest < since) break
    if (step.kind === 'link') page.takeLink(step.link)
    else if (step.kind === 'gap') page.takeGap(step.segment)
    else page.takeSegment(step.isOpened)
    if (page.next !== null) break
  }
  return page
}

function endOf({ state }: AuditWalkParts, until: number | null): Promise<number> | number {
  return until === null ? auditHead(state).next : linksBefore(state, until)
}

class Page implements AuditPage {
  readonly rows: PlacedAuditRow[] = []
  readonly gaps: AuditSegmentRecord[] = []
  next: AuditPlace | null = null
  segmentsOpened = 0
  readonly #query: AuditQuery
  readonly #bounds: PageBounds
  #links = 0
  #characters = 0

  constructor(query: AuditQuery, bounds: PageBounds) {
    this.#query = query
    this.#bounds = bounds
  }

  takeSegment(isOpened: boolean): void {
    if (isOpened) this.segmentsOpened++
  }

  takeGap(segment: AuditSegmentRecord): void {
    const { since, until } = this.#query
    if (segment.lastTime < since || (until !== null && segment.firstTime >= until)) return
    this.segmentsOpened++
    this.gaps.push(segment)
    this.#endIfSpent({ sequence: segment.first - 1, below: null })
  }

  takeLink(link: SealedLink): void {
    const { from, until, since, limit, filter } = this.#query
    const { sequence, time, text } = link
    if (time < since || (until !== null && time >= until)) return
    const texts = textsOf(text, link.rows)
    const below = sequence === from?.sequence && from.below !== null ? from.below : texts.length
    for (let n = below - 1; n >= 0; n--) {
      const one = texts[n] ?? ''
      this.#characters += one.length
      // Parsing costs far more than this look.
      if (!filter.texts.every((each) => one.includes(each))) continue
      const row = parseRow(one)
      if (row === null || !filter.matches(row)) continue
      // One more match than requested shows that there is a next page.
      if (this.rows.length === limit) {
        this.next = { sequence, below: n + 1 }
        return
      }
      // A node whose clock is ahead says nothing of the future.
      this.rows.push({ id: idOf(link, n), row: { ...row, time: Math.min(row.time, time) } })
    }
    this.#links++
    this.#endIfSpent({ sequence: sequence - 1, below: null })
  }

  #endIfSpent(next: AuditPlace): void {
    const { links, characters, segments } = this.#bounds
    const isSpent = this.#links >= links || this.#characters >= characters || this.segmentsOpened >= segments
    if (isSpent && this.rows.length + this.gaps.length > 0) this.next = next
  }
}

/** The place in the chain, and in the batch. */
function idOf({ sequence, rows }: SealedLink, n: number): string {
  return rows === undefined ? `au_${sequence}` : `au_${sequence}-${n}`
}
