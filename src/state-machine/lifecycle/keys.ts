/**
 * Row keys of lifecycle rules, and the range that the node on duty reads.
 */
import { hex, INDEX_DIGITS, join, type KeyRange, rangeOf, type RowKey } from '../base/row-key.ts'
import type { BucketId } from '../base/record-ids.ts'
import type { LifecycleRecord, LifecycleTurnRecord, LifecycleWalkRecord } from './records.ts'

export const lifecycleKeys = {
  lifecycle: (bucket: BucketId): RowKey<LifecycleRecord> => join('in', bucket, 'lifecycle'),
  lifecycleWalk: (bucket: BucketId): RowKey<LifecycleWalkRecord> => join('in', bucket, 'lifecycleWalk'),
  lifecycleTurn: (turnAt: number, bucket: BucketId): RowKey<LifecycleTurnRecord> =>
    join('lifecycleTurn', hex(turnAt, INDEX_DIGITS), bucket),
} as const

export const lifecycleRanges = {
  /** Buckets whose turn is at `time` or earlier. */
  turns: (time: number): KeyRange<LifecycleTurnRecord> => ({
    start: rangeOf('lifecycleTurn').start,
    end: lifecycleKeys.lifecycleTurn(time + 1, ''),
  }),
} as const
