/**
 * Rows of objects: versions, uploads, idempotency keys and what expires.
 */
import type { BucketId, TenantId } from '../base/record-ids.ts'
import type { ChecksumAlgorithm } from '../bodies/records.ts'
import type { ObjectRecord, VersionSettings } from '../versions/records.ts'

/** What a write with an idempotency key answered. */
export interface IdempotencyRecord {
  readonly fingerprint: string
  readonly object: ObjectRecord
  readonly expiresAt: number
}

/** A multipart upload that is neither completed nor aborted. */
export interface UploadRecord extends VersionSettings {
  readonly uploadId: string
  readonly key: string
  /** Access key that began it. */
  readonly initiator: string
  readonly createdAt: number
  readonly expiresAt: number
  readonly contentType: string
  readonly metadata: Readonly<Record<string, string>>
  readonly masterKeyId: string
  /** Every part has this digest, and the object too if digests of parts can be combined. */
  readonly checksumAlg: ChecksumAlgorithm | null
  readonly partCount: number
  readonly bytes: number
}

/** What the completion of an upload answered, for those who ask again. */
export interface CompletedRecord {
  readonly object: ObjectRecord
  /** Of the parts that it named. */
  readonly fingerprint: string
  readonly expiresAt: number
}

/** Something that ends by itself once the time of the log has passed `at`. */
export interface ExpiryRecord {
  readonly at: number
  readonly id: string
  readonly what:
    | {
        readonly kind: 'idempotency'
        readonly bucketId: BucketId
        readonly key: string
        readonly name: string
      }
    | {
        readonly kind: 'completed'
        readonly bucketId: BucketId
        readonly key: string
        readonly uploadId: string
      }
    | {
        readonly kind: 'upload'
        readonly tenantId: TenantId
        readonly bucket: string
        readonly bucketId: BucketId
        readonly key: string
        readonly uploadId: string
      }
}
