/**
 * Listing of the parts of an upload, by their numbers.
 *
 * Owns: the walk over the pages they lie in. Knows nothing of: whether the upload is under way.
 * Rule: every row is verified and must ascend before anybody sees it; a listing reads about as many pages as it fills.
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
import type { PartsPage } from './state-reader.ts'
import { assertAscending, type Database } from '../rows/state-rows.ts'

const READ_BYTES = 256 * 1024

/** `after`: exclusive. */
export async function listParts(
  db: Database,
  { bucketId, uploadId }: UploadPlace,
  { after, limit }: { readonly after: number; readonly limit: number },
): Promise<PartsPage> {
  const { start, end } = bodyRanges.uploadPages(bucketId, uploadId, uploadPageOf(after + 1))
  const parts: PartRecord[] = []
  let seen: Uint8Array = new Uint8Array()
  const iterator = db.iterator({ gte: keyBytes(start), lt: keyBytes(end), highWaterMarkBytes: READ_BYTES })
  try {
    // One part more than asked for tells whether anything is left.
    while (parts.length <= limit) {
      const rows = await iterator.nextv(Math.ceil((limit + 1 - parts.length) / PARTS_PER_UPLOAD_PAGE))
      if (rows.length === 0) return { parts, next: null }
      for (const [bytes, value] of rows) {
        assertAscending(seen, bytes)
        seen = bytes
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
