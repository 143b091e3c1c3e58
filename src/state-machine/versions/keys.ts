/**
 * Row keys of versions, and the ranges that listings read.
 */
import type { ChainRecord, ObjectRecord, VersionRecord } from './records.ts'
import { descending, join, type KeyRange, rangeOf, type RowKey } from '../base/row-key.ts'
import type { BucketId, VersionId } from '../base/record-ids.ts'

export const versionKeys = {
  object: (bucket: BucketId, key: string): RowKey<ObjectRecord> => join('in', bucket, 'object', key),
  /** Every version that is not the current object; for each key newest first. */
  version: (bucket: BucketId, key: string, version: VersionId): RowKey<VersionRecord> =>
    join('in', bucket, 'version', key, descending(version)),
  /** Exists for each version with a retention or a legal hold, whichever kind of row the version has. */
  lockedVersion: (
    bucket: BucketId,
    key: string,
    version: VersionId,
  ): RowKey<{ readonly key: string; readonly versionId: VersionId }> =>
    join('in', bucket, 'lockedVersion', key, version),
  chain: (bucket: BucketId, key: string): RowKey<ChainRecord> => join('in', bucket, 'chain', key),
} as const

export const versionRanges = {
  objects: (bucket: BucketId): KeyRange<ObjectRecord> => rangeOf('in', bucket, 'object'),
  versions: (bucket: BucketId): KeyRange<VersionRecord> => rangeOf('in', bucket, 'version'),
  lockedVersions: (bucket: BucketId): KeyRange<{ readonly key: string; readonly versionId: VersionId }> =>
    rangeOf('in', bucket, 'lockedVersion'),
} as const
