/**
 * One page of a listing in which everything below a common prefix is folded into one line.
 *
 * Owns: the walk over rows of one kind, and what a common prefix is. Knows nothing of: what the rows are.
 * Rule: work is bounded by the page, not by the bucket: rows below a common prefix are stepped over, by what is known of them or by a seek where there are many.
 */
import assert from 'node:assert/strict'
import { type CursorRange, type ReadRow, RowCursor } from '../rows/row-cursor.ts'
import { PAGE_ROWS_MAX } from './row-page.ts'
import type { StateReader } from './state-reader.ts'

export interface FoldedQuery {
  readonly prefix: string
  readonly delimiter: string
  /** 1..1000; rows and common prefixes count alike. */
  readonly limit: number
}

export interface FoldedPage<L> {
  readonly rows: readonly L[]
  readonly commonPrefixes: readonly string[]
  /** The line shown last, a row or a common prefix. Null: there are no more. */
  readonly next: L | string | null
}

export interface FoldedRange<R extends object, L> extends Pick<CursorRange<R>, 'all' | 'first'> {
  /** What the page has of a row. */
  readonly readRow: ReadRow<R, L>
  /** Absent: lines are counted only. */
  readonly budget?: LineBudget<L>
}

/** A page ends behind the line with which the sum of `bytesOf` reaches `bytesMax`, so it has one line at least. */
interface LineBudget<L> {
  readonly bytesMax: number
  readonly bytesOf: (line: L) => number
}

export function foldedPage<R extends object, L extends object>(
  state: Pick<StateReader, 'lease'>,
  { all, first, readRow, budget }: FoldedRange<R, L>,
  query: FoldedQuery,
): Promise<FoldedPage<L>> {
  const { prefix, limit } = query
  assert(limit >= 1 && limit <= PAGE_ROWS_MAX, 'a listing asks for 1 to 1,000 lines')
  return state.lease(async ({ db, knownGaps }) => {
    const gaps = knownGaps.walk()
    try {
      const cursor = await RowCursor.open(db, { all, prefix, first, lines: limit + 1, gaps }, readRow)
      try {
        return await pageOf(cursor, query, budget)
      } finally {
        await cursor.close()
      }
    } finally {
      gaps.close()
    }
  })
}

const UNWEIGHED: LineBudget<unknown> = { bytesMax: Infinity, bytesOf: () => 0 }

async function pageOf<R extends object, L extends object>(
  cursor: RowCursor<R, L>,
  query: FoldedQuery,
  { bytesMax, bytesOf }: LineBudget<L> = UNWEIGHED,
): Promise<FoldedPage<L>> {
  const rows: L[] = []
  const commonPrefixes: string[] = []
  let last: L | string | null = null
  let bytes = 0
  const isFolded = (name: string): boolean => commonPrefixOf(name, query) !== null
  for (let found = 0; cursor.name !== null; found++) {
    if (found === query.limit || bytes >= bytesMax) return { rows, commonPrefixes, next: last }
    const folded = commonPrefixOf(cursor.name, query)
    if (folded === null) {
      const row = cursor.row()
      last = row
      rows.push(row)
      bytes += bytesOf(row)
      if (!cursor.next()) await cursor.more()
    } else {
      last = folded
      commonPrefixes.push(folded)
      if (!cursor.skip(folded, isFolded)) await cursor.more()
    }
  }
  return { rows, commonPrefixes, next: null }
}

/** Everything up to and including the first delimiter after the prefix; null when there is none. */
export function commonPrefixOf(
  key: string,
  { prefix, delimiter }: Pick<FoldedQuery, 'prefix' | 'delimiter'>,
): string | null {
  if (delimiter === '' || !key.startsWith(prefix)) return null
  const at = key.indexOf(delimiter, prefix.length)
  return at < 0 ? null : key.slice(0, at + delimiter.length)
}
