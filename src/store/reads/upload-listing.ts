/**
 * Listing of the uploads under way in a bucket: keys ascending, of a key the earliest first, with everything below a common
 * prefix folded into one line.
 *
 * Owns: where a page begins and ends. Knows nothing of: HTTP.
 */
import type { BucketId } from '../../state-machine/base/record-ids.ts'
import { type RowKey, successor } from '../../state-machine/base/row-key.ts'
import { objectRanges } from '../../state-machine/objects/keys.ts'
import type { UploadRecord } from '../../state-machine/objects/records.ts'
import { decodePayload } from '../rows/row-codec.ts'
import { commonPrefixOf, foldedPage, type FoldedQuery } from './folded-page.ts'
import type { StateReader } from './state-reader.ts'

/** Where a page of uploads ended. */
export interface UploadMarker {
  /** The key shown last, or the common prefix shown last. Empty: from the beginning. */
  readonly keyMarker: string
  /** The upload of that key shown last. Empty: no further upload of that key comes. */
  readonly uploadIdMarker: string
}

export interface ListUploadsQuery extends UploadMarker, FoldedQuery {}

export interface UploadPage {
  /** Keys ascending, of a key in the order of their beginnings. */
  readonly uploads: readonly UploadRecord[]
  readonly commonPrefixes: readonly string[]
  readonly next: UploadMarker | null
}

export async function pageOfUploads(
  state: Pick<StateReader, 'lease'>,
  bucket: BucketId,
  query: ListUploadsQuery,
): Promise<UploadPage> {
  const all = objectRanges.uploads(bucket)
  const range = { all, first: startOf(all.start, query), readRow: readUpload }
  const page = await foldedPage(state, range, query)
  const { rows: uploads, commonPrefixes, next } = page
  return { uploads, commonPrefixes, next: next === null ? null : markerOf(next) }
}

const readUpload = (row: RowKey<UploadRecord>, _key: string, payload: Buffer): UploadRecord =>
  decodePayload(row, payload)

function markerOf(last: UploadRecord | string): UploadMarker {
  if (typeof last === 'string') return { keyMarker: last, uploadIdMarker: '' }
  return { keyMarker: last.key, uploadIdMarker: last.uploadId }
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
