/**
 * Row keys of buckets, and the ranges that listings read.
 */
import type { BucketPolicyRecord, BucketRecord, BucketTagsRecord, CorsRecord } from './records.ts'
import { join, type KeyRange, rangeOf, type RowKey } from '../base/row-key.ts'
import type { BucketId, TenantId } from '../base/record-ids.ts'

export const bucketKeys = {
  bucket: (tenant: TenantId, name: string): RowKey<BucketRecord> => join('bucket', tenant, name),
  bucketPolicy: (bucket: BucketId): RowKey<BucketPolicyRecord> => join('in', bucket, 'bucketPolicy'),
  cors: (bucket: BucketId): RowKey<CorsRecord> => join('in', bucket, 'cors'),
  bucketTags: (bucket: BucketId): RowKey<BucketTagsRecord> => join('in', bucket, 'bucketTags'),
} as const

export const bucketRanges = {
  buckets: (tenant: TenantId): KeyRange<BucketRecord> => rangeOf('bucket', tenant),
} as const
