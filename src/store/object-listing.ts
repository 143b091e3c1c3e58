/**
 * Listing of a bucket: keys in UTF-8 byte order, with everything below a common prefix folded into one line.
 *
 * Owns: the walk. Knows nothing of: tokens, HTTP. [decisions 4]
 * Rule: work is bounded by the page, not by the bucket: what lies below a common prefix is stepped over by one seek.
 */
import { keys, narrow, ranges, successor, type KeyRange } from '../state-machine/keys.ts'
import type { BucketId, ObjectRecord } from '../state-machine/records.ts'
import { assertAscending, type Database } from './state-rows.ts'
import { decodeRow, keyBytes, openRow } from './row-codec.ts'
import type { ListObjectsQuery, ObjectPage } from './state-reader.ts'

const READ_AHEAD_BYTES = 64 * 1024

export async function listObjects(
  db: Database,
  bucket: BucketId,
  query: ListObjectsQuery,
): Promise<ObjectPage> {
  const all = ranges.objects(bucket)
  const range = narrow(all, query.prefix)
  const objects: ObjectRecord[] = []
  const commonPrefixes: string[] = []
  let last: string | null = null
  let seen: Uint8Array = new Uint8Array()
  // Declared bounds hold for seek() as well: a target beyond them ends the walk.
  const iterator = db.iterator({
    gte: startOf(all, range, query),
    lt: keyBytes(range.end),
    highWaterMarkBytes: READ_AHEAD_BYTES,
  })
  try {
    for (let found = 0; ; found++) {
      const entry = await iterator.next()
      if (entry === undefined) return { objects, commonPrefixes, next: null }
      if (found === query.limit) return { objects, commonPrefixes, next: last }
      assertAscending(seen, entry[0])
      seen = entry[0]
      const key = entry[0].toString('utf8').slice(all.start.length)
      const folded = commonPrefixOf(key, query)
      last = folded ?? key
      if (folded === null) {
        objects.push(decodeRow(keys.object(bucket, key), entry[1]))
      } else {
        openRow(entry[0], entry[1])
        commonPrefixes.push(folded)
        iterator.seek(keyBytes(successor(all.start + folded)))
      }
    }
  } finally {
    await iterator.close()
  }
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

function startOf(all: KeyRange, range: KeyRange, query: ListObjectsQuery): Buffer {
  const first = keyBytes(range.start)
  if (query.after === '') return first
  const after = all.start + query.after
  // A key holds no NUL, so nothing lies between a key and the same key with a NUL behind it.
  const next = keyBytes(
    commonPrefixOf(query.after, query) === query.after ? successor(after) : `${after}\u0000`,
  )
  return Buffer.compare(next, first) > 0 ? next : first
}
