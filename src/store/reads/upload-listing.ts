/**
 * Listing of the uploads under way in a bucket: keys ascending, of a key the earliest first, with everything below a common
 * prefix folded into one line.
 *
 * Owns: the walk. Knows nothing of: HTTP. Rule: work is bounded by the page, not by the bucket, as for a listing of objects.
 */
import assert from 'node:assert/strict'
import type { BucketId } from '../../state-machine/base/record-ids.ts'
import { successor } from '../../state-machine/base/row-key.ts'
import { objectRanges } from '../../state-machine/objects/keys.ts'
import type { UploadRecord } from '../../state-machine/objects/records.ts'
import { RowCursor } from '../rows/row-cursor.ts'
import { commonPrefixOf } from './object-listing.ts'
import { PAGE_ROWS_MAX } from './row-page.ts'
import type { StateReader } from './state-reader.ts'

/** Where a page of uploads ended. */
export interface UploadMarker {
  /** The key shown last, or the common prefix shown last. Empty: from the beginning. */
  readonly keyMarker: string
  /** The upload of that key shown last. Empty: no further upload of that key comes. */
  readonly uploadIdMarker: string
}

export interface ListUploadsQuery extends UploadMarker {
  readonly prefix: string
  readonly delimiter: string
  /** 1..1000; uploads and common prefixes count alike. */
  readonly limit: number
}

export interface UploadPage {
  /** Keys ascending, of a key in the order of their beginnings. */
  readonly uploads: readonly UploadRecord[]
  readonly commonPrefixes: readonly string[]
  readonly next: UploadMarker | null
}

export function pageOfUploads(
  state: Pick<StateReader, 'lease'>,
  bucket: BucketId,
  query: ListUploadsQuery,
): Promise<UploadPage> {
  const { prefix, limit } = query
  assert(limit >= 1 && limit <= PAGE_ROWS_MAX, 'a listing asks for 1 to 1,000 lines')
  const all = objectRanges.uploads(bucket)
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

async function pageOf(cursor: RowCursor<UploadRecord>, query: ListUploadsQuery): Promise<UploadPage> {
  const uploads: UploadRecord[] = []
  const commonPrefixes: string[] = []
  let next: UploadMarker | null = null
  while (cursor.name !== null) {
    if (uploads.length + commonPrefixes.length === query.limit) return { uploads, commonPrefixes, next }
    const folded = commonPrefixOf(cursor.name, query)
    if (folded === null) {
      const upload = cursor.row
      uploads.push(upload)
      next = { keyMarker: upload.key, uploadIdMarker: upload.uploadId }
      await cursor.next()
    } else {
      commonPrefixes.push(folded)
      next = { keyMarker: folded, uploadIdMarker: '' }
      await cursor.skip(folded)
    }
  }
  return { uploads, commonPrefixes, next: null }
}

function startOf(start: string, query: ListUploadsQuery): string {
  const { keyMarker, uploadIdMarker } = query
  if (keyMarker === '') return start
  const folded = commonPrefixOf(keyMarker, query)
  if (folded !== null) return successor(start + folded)
  // Rows are named by key, NUL, upload id, and neither holds a NUL.
  const key = `${start}${keyMarker}\u0000`
  return uploadIdMarker === '' ? successor(key) : `${key}${uploadIdMarker}\u0000`
}
