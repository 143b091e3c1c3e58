/** Listing of the uploads under way in a bucket: keys ascending, of a key the earliest first. */
import type { BucketId } from '../../state-machine/base/record-ids.ts'
import { objectRanges } from '../../state-machine/objects/keys.ts'
import type { UploadRecord } from '../../state-machine/objects/records.ts'
import type { RowReader } from './state-reader.ts'

/** Where a page of uploads ended. */
export interface UploadMarker {
  /** Empty: from the beginning. */
  readonly keyMarker: string
  /** Empty: no further upload of that key comes. */
  readonly uploadIdMarker: string
}

export interface ListUploadsQuery extends UploadMarker {
  readonly prefix: string
  /** 1..1000 */
  readonly limit: number
}

export interface UploadPage {
  /** Keys ascending, of a key in the order of their beginnings. */
  readonly uploads: readonly UploadRecord[]
  readonly next: UploadMarker | null
}

export async function pageOfUploads(
  state: RowReader,
  bucket: BucketId,
  query: ListUploadsQuery,
): Promise<UploadPage> {
  const { prefix, keyMarker, uploadIdMarker, limit } = query
  const isBelowSkipped = uploadIdMarker === ''
  const after = isBelowSkipped ? keyMarker : `${keyMarker}\u0000${uploadIdMarker}`
  const all = objectRanges.uploads(bucket)
  const { items, next } = await state.page(all, { prefix, after, isBelowSkipped, limit })
  const last = items.at(-1)
  const isEnd = next === null || last === undefined
  return { uploads: items, next: isEnd ? null : { keyMarker: last.key, uploadIdMarker: last.uploadId } }
}
