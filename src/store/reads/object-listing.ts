/**
 * Listing of a bucket: keys in UTF-8 byte order, with everything below a common prefix folded into one line.
 *
 * Owns: the walk. Knows nothing of: tokens, HTTP. [decisions 4]
 * Rule: work is bounded by the page, not by the bucket: rows below a common prefix are stepped over, by a seek where there are many.
 */
import assert from 'node:assert/strict'
import { versionRanges } from '../../state-machine/versions/keys.ts'
import { successor } from '../../state-machine/base/row-key.ts'
import type { BucketId } from '../../state-machine/base/record-ids.ts'
import type { ObjectRecord } from '../../state-machine/versions/records.ts'
import { RowCursor } from '../rows/row-cursor.ts'
import { PAGE_ROWS_MAX } from './row-page.ts'
import type { StateReader } from './state-reader.ts'

export interface ListObjectsQuery {
  readonly prefix: string
  readonly delimiter: string
  /** 1..1000; objects and common prefixes count alike. */
  readonly limit: number
  /**
   * Exclusive lower bound: any text, such as the key or common prefix that was shown last. A line is shown if it comes behind: of a
   * text inside a common prefix that is nothing below this prefix, which sorts before the text. Empty string for the beginning.
   */
  readonly after: string
}

export interface ObjectPage {
  readonly objects: readonly ObjectRecord[]
  readonly commonPrefixes: readonly string[]
  readonly next: string | null
}

export function pageOfObjects(
  state: StateReader,
  bucket: BucketId,
  query: ListObjectsQuery,
): Promise<ObjectPage> {
  const { prefix, limit } = query
  assert(limit >= 1 && limit <= PAGE_ROWS_MAX, 'a listing asks for 1 to 1,000 lines')
  const all = versionRanges.objects(bucket)
  const first = startOf(all.start, query)
  return state.lease(async ({ db }) => {
    const cursor = await RowCursor.open(db, { all, prefix, first, lines: limit + 1 })
    try {
      return await pageOf(cursor, query)
    } finally {
      await cursor.close()
    }
  })
}

async function pageOf(cursor: RowCursor<ObjectRecord>, query: ListObjectsQuery): Promise<ObjectPage> {
  const objects: ObjectRecord[] = []
  const commonPrefixes: string[] = []
  let last: string | null = null
  for (let found = 0; cursor.name !== null; found++) {
    if (found === query.limit) return { objects, commonPrefixes, next: last }
    const folded = commonPrefixOf(cursor.name, query)
    last = folded ?? cursor.name
    if (folded === null) {
      objects.push(cursor.row)
      await cursor.next()
    } else {
      commonPrefixes.push(folded)
      await cursor.skip(folded)
    }
  }
  return { objects, commonPrefixes, next: null }
}

/** Everything up to and including the first delimiter after the prefix; null when there is none. */
export function commonPrefixOf(
  key: string,
  { prefix, delimiter }: Pick<ListObjectsQuery, 'prefix' | 'delimiter'>,
): string | null {
  if (delimiter === '' || !key.startsWith(prefix)) return null
  const at = key.indexOf(delimiter, prefix.length)
  return at < 0 ? null : key.slice(0, at + delimiter.length)
}

function startOf(start: string, query: ListObjectsQuery): string {
  const after = start + query.after
  if (query.after === '') return start
  const folded = commonPrefixOf(query.after, query)
  // A key holds no NUL, so nothing lies between a key and the same key with a NUL behind it.
  return folded === null ? `${after}\u0000` : successor(start + folded)
}
