/**
 * Row keys of bodies, and the ranges that listings read.
 */
import type {
  DiscardedBodyRecord,
  DiscardRecord,
  InlineBodyRecord,
  ManifestPageRecord,
  PartPageRecord,
  UploadPageRecord,
} from './records.ts'
import {
  hex,
  INDEX_DIGITS,
  join,
  type KeyRange,
  PAGE_DIGITS,
  rangeOf,
  type RowKey,
  SEPARATOR,
} from '../base/row-key.ts'
import type { BucketId, VersionId } from '../base/record-ids.ts'

export const bodyKeys = {
  uploadPage: (bucket: BucketId, uploadId: string, page: number): RowKey<UploadPageRecord> =>
    join('in', bucket, 'uploadPage', uploadId, hex(page, PAGE_DIGITS)),
  partPage: (bucket: BucketId, version: VersionId, page: number): RowKey<PartPageRecord> =>
    join('in', bucket, 'partPage', version, hex(page, PAGE_DIGITS)),
  /** By version id, which ascends: new bodies and manifests go to the end of the key range, not to random places. */
  inlineBody: (bucket: BucketId, version: VersionId): RowKey<InlineBodyRecord> =>
    join('in', bucket, 'inlineBody', version),
  manifestPage: (bucket: BucketId, version: VersionId, page: number): RowKey<ManifestPageRecord> =>
    join('in', bucket, 'manifestPage', version, hex(page, PAGE_DIGITS)),
  discard: (id: string): RowKey<DiscardRecord> => join('discard', id),
  /** By the index of the entry that discarded it: the oldest is released first. */
  discarded: (index: number, id: VersionId): RowKey<DiscardedBodyRecord> =>
    join('discarded', hex(index, INDEX_DIGITS), id),
} as const

export const bodyRanges = {
  partPages: (bucket: BucketId): KeyRange<PartPageRecord> => rangeOf('in', bucket, 'partPage'),
  /** Of all unfinished uploads. */
  allUploadPages: (bucket: BucketId): KeyRange<UploadPageRecord> => rangeOf('in', bucket, 'uploadPage'),
  manifestPages: (bucket: BucketId): KeyRange<ManifestPageRecord> => rangeOf('in', bucket, 'manifestPage'),
  /** From page `first` on. */
  uploadPages: (bucket: BucketId, uploadId: string, first: number): KeyRange<UploadPageRecord> => ({
    start: bodyKeys.uploadPage(bucket, uploadId, first),
    end: rangeOf('in', bucket, 'uploadPage', uploadId).end,
  }),
  discards: (): KeyRange<DiscardRecord> => rangeOf('discard'),
  discarded: (): KeyRange<DiscardedBodyRecord> => rangeOf('discarded'),
} as const

/** The body and the page that a manifest row belongs to. */
export function manifestNameIn(key: RowKey<ManifestPageRecord>): {
  readonly version: VersionId
  readonly page: number
} {
  const [, , , version = '', page = ''] = key.split(SEPARATOR)
  return { version, page: Number.parseInt(page, 16) }
}
