/**
 * A bounded page of rows of one kind, in the order of their keys.
 *
 * Owns: the walk over one range. Knows nothing of: what the rows mean, which state is the current one.
 * Rule: every row is verified and must ascend before anybody sees it; a page reads from one consistent cut.
 */
import { type KeyRange, narrow } from '../state-machine/keys.ts'
import type { RowKey, RowKind, RowTypes } from '../state-machine/view.ts'
import type { OpenState } from './open-state.ts'
import { decodeRow, keyBytes } from './row-codec.ts'
import type { Page } from './state-reader.ts'
import { assertAscending, type DatabaseSnapshot } from './state-rows.ts'

export const PAGE_ROWS_MAX = 1000

export interface PageQuery {
  /** All rows of this kind and owner: `prefix` and `after` are of names inside it. */
  readonly all: KeyRange
  readonly prefix?: string
  /** Exclusive. Empty: from the first row on. */
  readonly after?: string
  /** Rows whose names go on behind `after` with a further part are stepped over too. */
  readonly isBelowSkipped?: boolean
  readonly limit: number
  /** Of the database as it was then; absent: as it is now. */
  readonly snapshot?: DatabaseSnapshot
}

export interface RowPage<K extends RowKind> extends Page<RowTypes[K]> {
  /** The keys of `items`. */
  readonly names: readonly RowKey<K>[]
}

export async function readPage<K extends RowKind>(state: OpenState, query: PageQuery): Promise<RowPage<K>> {
  const limit = Math.min(query.limit, PAGE_ROWS_MAX)
  const range = narrow(query.all, query.prefix ?? '')
  const items: RowTypes[K][] = []
  const names: RowKey<K>[] = []
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
    const key: RowKey<K> = bytes.toString('utf8')
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
