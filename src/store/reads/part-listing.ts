/**
 * Listing of the parts of an upload, by their numbers.
 *
 * Owns: the walk over the pages they lie in. Knows nothing of: whether the upload is under way.
 * Rule: every row is verified and must ascend before a caller gets it; a listing reads about as many pages as it fills.
 */
import { bodyRanges } from '../../state-machine/bodies/keys.ts'
import type { RowKey } from '../../state-machine/base/row-key.ts'
import type { PartRecord, UploadPageRecord } from '../../state-machine/bodies/records.ts'
import {
  PARTS_PER_UPLOAD_PAGE,
  uploadPageOf,
  type UploadPlace,
} from '../../state-machine/bodies/upload-parts.ts'
import { decodeRow, keyBytes } from '../rows/row-codec.ts'
import { assertAscending, type Database } from '../rows/state-rows.ts'
import type { StateReader } from './state-reader.ts'

export interface PartsQuery {
  /** Exclusive; 0: from the first. */
  readonly after: number
  /** 1..1000 */
  readonly limit: number
}

export interface PartsPage {
  /** By their numbers, ascending. */
  readonly parts: readonly PartRecord[]
  /** The number to continue behind; null when nothing is left. */
  readonly next: number | null
}

const READ_BYTES = 256 * 1024

/** Parts may be there for a while after the upload has ended. */
export function pageOfParts(
  state: Pick<StateReader, 'lease'>,
  place: UploadPlace,
  query: PartsQuery,
): Promise<PartsPage> {
  return state.lease(({ db }) => pageOf(db, place, query))
}

async function pageOf(
  db: Database,
  { bucketId, uploadId }: UploadPlace,
  { after, limit }: PartsQuery,
): Promise<PartsPage> {
  const { start, end } = bodyRanges.uploadPages(bucketId, uploadId, uploadPageOf(after + 1))
  const parts: PartRecord[] = []
  let last: Uint8Array = new Uint8Array()
  const iterator = db.iterator({ gte: keyBytes(start), lt: keyBytes(end), highWaterMarkBytes: READ_BYTES })
  try {
    // One part more than requested shows whether anything is left.
    while (parts.length <= limit) {
      const rows = await iterator.nextv(Math.ceil((limit + 1 - parts.length) / PARTS_PER_UPLOAD_PAGE))
      if (rows.length === 0) return { parts, next: null }
      for (const [bytes, value] of rows) {
        assertAscending(last, bytes)
        last = bytes
        const key: RowKey<UploadPageRecord> = bytes.toString('utf8')
        parts.push(...decodeRow(key, value).parts.filter(({ partNumber }) => partNumber > after))
      }
    }
  } finally {
    await iterator.close()
  }
  const page = parts.slice(0, limit)
  return { parts: page, next: page.at(-1)?.partNumber ?? null }
}
