/**
 * Listing of a bucket: keys in UTF-8 byte order, with everything below a common prefix folded into one line.
 *
 * Owns: where a page begins. Knows nothing of: tokens, HTTP. [decisions 4]
 */
import { versionRanges } from '../../state-machine/versions/keys.ts'
import { successor } from '../../state-machine/base/row-key.ts'
import type { BucketId } from '../../state-machine/base/record-ids.ts'
import { commonPrefixOf, foldedPage, type FoldedQuery } from './folded-page.ts'
import type { ListedMetadata, ListedObject } from '../../state-machine/versions/listed-version.ts'
import { readDescribedObject, readListedObject } from './listed-rows.ts'
import type { StateReader } from './state-reader.ts'

export interface ListObjectsQuery extends FoldedQuery {
  /**
   * Exclusive lower bound: any text, such as the key or common prefix that was shown last. A line is shown if it comes behind: of a
   * text inside a common prefix that is nothing below this prefix, which sorts before the text. Empty string for the beginning.
   */
  readonly after: string
  /** With the user metadata of each object; such a page ends early when it has much of it. */
  readonly withMetadata?: boolean
}

export interface ObjectPage {
  readonly objects: readonly ListedObject[]
  readonly commonPrefixes: readonly string[]
  readonly next: string | null
}

export async function pageOfObjects(
  state: StateReader,
  bucket: BucketId,
  query: ListObjectsQuery,
): Promise<ObjectPage> {
  const all = versionRanges.objects(bucket)
  const first = startOf(all.start, query)
  const range =
    query.withMetadata === true
      ? { all, first, readRow: readDescribedObject, budget: METADATA_BUDGET }
      : { all, first, readRow: readListedObject }
  const page = await foldedPage(state, range, query)
  const { rows: objects, commonPrefixes, next } = page
  return { objects, commonPrefixes, next: next === null || typeof next === 'string' ? next : next.key }
}

/** An object may have 2 KiB, so that a page has at least 128 of them; a time of a file takes some 30 bytes. */
const METADATA_BUDGET = {
  bytesMax: 256 * 1024,
  bytesOf: ({ metadata = [] }: ListedObject) => metadataBytes(metadata),
}

function metadataBytes(metadata: ListedMetadata): number {
  let bytes = 0
  for (const [name, value] of metadata) bytes += name.length + Buffer.byteLength(value)
  return bytes
}

function startOf(start: string, query: ListObjectsQuery): string {
  const after = start + query.after
  if (query.after === '') return start
  const folded = commonPrefixOf(query.after, query)
  // A key holds no NUL, so nothing lies between a key and the same key with a NUL behind it.
  return folded === null ? `${after}\u0000` : successor(start + folded)
}
