/**
 * Rows of uploads, idempotency keys and expiries.
 */
import type { BucketId, TenantId } from '../base/record-ids.ts'
import type { ChecksumAlgorithm, ChecksumType, CustomerSeal } from '../bodies/records.ts'
import type { ObjectRecord, Representation, VersionSettings } from '../versions/records.ts'

/** The answer to a write with an idempotency key. */
export interface IdempotencyRecord {
  readonly fingerprint: string
  readonly object: ObjectRecord
  readonly expiresAt: number
}

/** A multipart upload that is neither completed nor aborted. */
export interface UploadRecord extends VersionSettings {
  readonly uploadId: string
  readonly key: string
  /** The access key that created it. */
  readonly initiator: string
  readonly createdAt: number
  readonly expiresAt: number
  readonly contentType: string
  readonly metadata: Readonly<Record<string, string>>
  /** Absent: nothing was said. */
  readonly representation?: Representation
  readonly masterKeyId: string
  /** Every part has a checksum of this algorithm, and so has the object if checksums of parts can be combined. */
  readonly checksumAlg: ChecksumAlgorithm | null
  /** How the digest of the object by `checksumAlg` is made. Absent: nothing was said, and it is over all bytes where it can be. */
  readonly checksumType?: ChecksumType
  /** Present: its client has the key of every part. */
  readonly customerSeal?: CustomerSeal
  readonly partCount: number
  readonly bytes: number
  /** Its share in the usage of the tenant, with that of its parts. Absent: none was counted. */
  readonly metadataBytes?: number
}

/** The answer to the completion of an upload, for repeated requests. */
export interface CompletedRecord {
  readonly object: ObjectRecord
  /** Fingerprint of the parts that the request named. */
  readonly fingerprint: string
  readonly expiresAt: number
}

/** An item that ends once the confirmed log time has reached `at`. */
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
