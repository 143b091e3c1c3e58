/**
 * A bounded page of rows of one kind, in the order of their keys.
 *
 * Owns: the walk over one range. Knows nothing of: what the rows mean, which state is the current one.
 * Rule: every row is verified and must ascend before a caller gets it; a page reads from one consistent cut.
 */
import { type KeyRange, narrow, type RowKey } from '../../state-machine/base/row-key.ts'
import type { OpenState } from '../rows/open-state.ts'
import { decodeRow, keyBytes } from '../rows/row-codec.ts'
import { assertAscending, type DatabaseSnapshot } from '../rows/state-rows.ts'
import type { PageQuery, RowPage, StateReader } from './state-reader.ts'

export const PAGE_ROWS_MAX = 1000

export async function readPage<R extends object>(
  state: OpenState,
  all: KeyRange<R>,
  // `snapshot`: rows of the database as it was then; absent: as it is now.
  query: PageQuery & { readonly snapshot?: DatabaseSnapshot },
): Promise<RowPage<R>> {
  const limit = Math.min(query.limit, PAGE_ROWS_MAX)
  const range = narrow(all, query.prefix ?? '')
  const isWholeNow = query.snapshot === undefined && (query.after ?? '') === ''
  if (isWholeNow && state.emptyRanges.has(range)) return { items: [], names: [], next: null }
  const { moment } = state.emptyRanges
  const items: R[] = []
  const names: RowKey<R>[] = []
  let last: Uint8Array = new Uint8Array()
  // One row more than requested shows whether anything is left.
  for await (const [bytes, value] of state.db.iterator({
    gte: startOf(all, range, query),
    lt: keyBytes(range.end),
    limit: limit + 1,
    ...(query.snapshot === undefined ? {} : { snapshot: query.snapshot }),
  })) {
    if (items.length === limit) {
      const next = names.at(-1)?.slice(all.start.length) ?? null
      return { items, names, next }
    }
    const key: RowKey<R> = bytes.toString('utf8')
    assertAscending(last, bytes)
    items.push(decodeRow(key, value))
    names.push(key)
    last = bytes
  }
  if (isWholeNow && items.length === 0) state.emptyRanges.found(range, moment)
  return { items, names, next: null }
}

function startOf(all: KeyRange, range: KeyRange, { after = '', isBelowSkipped = false }: PageQuery): Buffer {
  const first = keyBytes(range.start)
  if (after === '') return first
  // Parts of a name are joined by NUL, and hold none.
  const next = keyBytes(`${all.start}${after}${isBelowSkipped ? '\u0001' : '\u0000'}`)
  return Buffer.compare(next, first) > 0 ? next : first
}

/** Null: the range is empty. */
export function lastRow<R extends object>(
  reader: Pick<StateReader, 'lease'>,
  all: KeyRange<R>,
): Promise<R | null> {
  const range = { gte: keyBytes(all.start), lt: keyBytes(all.end), reverse: true, limit: 1 }
  return reader.lease(async ({ db, emptyRanges }) => {
    if (emptyRanges.has(all)) return null
    const { moment } = emptyRanges
    const [last] = await db.iterator(range).all()
    if (last === undefined) {
      emptyRanges.found(all, moment)
      return null
    }
    const key: RowKey<R> = last[0].toString('utf8')
    return decodeRow(key, last[1])
  })
}
