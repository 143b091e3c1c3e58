/**
 * Row keys of objects, and the ranges that listings read.
 */
import type { CompletedRecord, ExpiryRecord, IdempotencyRecord, UploadRecord } from './records.ts'
import { hex, INDEX_DIGITS, join, type KeyRange, rangeOf, type RowKey } from '../base/row-key.ts'
import type { BucketId } from '../base/record-ids.ts'

export const objectKeys = {
  idempotency: (bucket: BucketId, key: string, name: string): RowKey<IdempotencyRecord> =>
    join('in', bucket, 'idempotency', key, name),
  upload: (bucket: BucketId, key: string, uploadId: string): RowKey<UploadRecord> =>
    join('in', bucket, 'upload', key, uploadId),
  completed: (bucket: BucketId, key: string, uploadId: string): RowKey<CompletedRecord> =>
    join('in', bucket, 'completed', key, uploadId),
  expiry: (at: number, id: string): RowKey<ExpiryRecord> => join('expiry', hex(at, INDEX_DIGITS), id),
} as const

export const objectRanges = {
  idempotencies: (bucket: BucketId): KeyRange<IdempotencyRecord> => rangeOf('in', bucket, 'idempotency'),
  completions: (bucket: BucketId): KeyRange<CompletedRecord> => rangeOf('in', bucket, 'completed'),
  uploads: (bucket: BucketId): KeyRange<UploadRecord> => rangeOf('in', bucket, 'upload'),
  /** Items that expire at `before` or earlier. */
  expiries: (before: number): KeyRange<ExpiryRecord> => ({
    start: rangeOf('expiry').start,
    end: objectKeys.expiry(before + 1, ''),
  }),
} as const
