/**
 * A bounded page of rows of one kind, in the order of their keys.
 *
 * Owns: the walk over one range. Knows nothing of: what the rows mean, which state is the current one.
 * Rule: every row is verified and must ascend before anybody sees it; a page reads from one consistent cut.
 */
import { type KeyRange, narrow, type RowKey } from '../../state-machine/base/row-key.ts'
import type { OpenState } from '../rows/open-state.ts'
import { decodeRow, keyBytes } from '../rows/row-codec.ts'
import type { Page } from './state-reader.ts'
import { assertAscending, type DatabaseSnapshot } from '../rows/state-rows.ts'

export const PAGE_ROWS_MAX = 1000

export interface PageQuery<R extends object = object> {
  /** All rows of this kind and owner: `prefix` and `after` are of names inside it. */
  readonly all: KeyRange<R>
  readonly prefix?: string
  /** Exclusive. Empty: from the first row on. */
  readonly after?: string
  /** Rows whose names go on behind `after` with a further part are stepped over too. */
  readonly isBelowSkipped?: boolean
  readonly limit: number
  /** Of the database as it was then; absent: as it is now. */
  readonly snapshot?: DatabaseSnapshot
}

export interface RowPage<R extends object> extends Page<R> {
  /** The keys of `items`. */
  readonly names: readonly RowKey<R>[]
}

export async function readPage<R extends object>(state: OpenState, query: PageQuery<R>): Promise<RowPage<R>> {
  const limit = Math.min(query.limit, PAGE_ROWS_MAX)
  const range = narrow(query.all, query.prefix ?? '')
  const items: R[] = []
  const names: RowKey<R>[] = []
  let seen: Uint8Array = new Uint8Array()
  // One row more than asked for tells whether anything is left.
  for await (const [bytes, value] of state.db.iterator({
    gte: startOf(range, query),
    lt: keyBytes(range.end),
    limit: limit + 1,
    ...(query.snapshot === undefined ? {} : { snapshot: query.snapshot }),
  })) {
    if (items.length === limit) {
      const next = names.at(-1)?.slice(query.all.start.length) ?? null
      return { items, names, next }
    }
    const key: RowKey<R> = bytes.toString('utf8')
    assertAscending(seen, bytes)
    items.push(decodeRow(key, value))
    names.push(key)
    seen = bytes
  }
  return { items, names, next: null }
}

function startOf(range: KeyRange, { all, after = '', isBelowSkipped = false }: PageQuery): Buffer {
  const first = keyBytes(range.start)
  if (after === '') return first
  // Parts of a name are joined by NUL, and hold none.
  const next = keyBytes(`${all.start}${after}${isBelowSkipped ? '\u0001' : '\u0000'}`)
  return Buffer.compare(next, first) > 0 ? next : first
}

/** Null: the range is empty. */
export async function lastRow<R extends object>(
  { db }: Pick<OpenState, 'db'>,
  { start, end }: KeyRange<R>,
): Promise<R | null> {
  const range = { gte: keyBytes(start), lt: keyBytes(end), reverse: true, limit: 1 }
  const [last] = await db.iterator(range).all()
  if (last === undefined) return null
  const key: RowKey<R> = last[0].toString('utf8')
  return decodeRow(key, last[1])
}
