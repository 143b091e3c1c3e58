/**
 * The records of buckets and what is in them: versions, bodies, uploads.
 *
 * Owns: the shapes; records.ts says what holds for all of them.
 */
import type { BucketId, ChunkId, TenantId, VersionId } from './record-ids.ts'

export interface BucketRecord {
  /** Unique for ever: a bucket made again under the same name has another id, so old rows can never reappear in it. */
  readonly id: BucketId
  readonly tenantId: TenantId
  readonly name: string
  readonly createdAt: number
  readonly versioning: 'Unversioned' | 'Enabled' | 'Suspended'
  readonly objectLockEnabled: boolean
  /** It has a row of notifications; absent: nobody is told of what happens in it. */
  readonly hasNotifications?: true
  /** Keys whose newest version is an object. */
  readonly objectCount: number
  /** All versions that are objects, the current ones too. */
  readonly versionCount: number
  readonly deleteMarkerCount: number
  /** Of all versions. */
  readonly logicalBytes: number
  /** Multipart uploads that are neither completed nor aborted, and the bytes of their parts. */
  readonly uploadCount: number
  readonly uploadBytes: number
  /** It has a cors row. Absent: it has none. */
  readonly hasCors?: true
}

export type CorsMethod = 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE'

/** Patterns hold at most one `*`. null: the member was not given. */
export interface CorsRule {
  readonly id: string | null
  readonly allowedOrigins: readonly string[]
  readonly allowedMethods: readonly CorsMethod[]
  readonly allowedHeaders: readonly string[] | null
  readonly exposeHeaders: readonly string[] | null
  readonly maxAgeSeconds: number | null
}

/** Which pages of other origins a browser may let read what is in the bucket. The first rule that fits decides. */
export interface CorsRecord {
  readonly rules: readonly CorsRule[]
}

export type ChecksumAlgorithm = 'CRC32' | 'CRC32C' | 'CRC64NVME' | 'SHA1' | 'SHA256'

/** base64 digests by algorithm. */
export type Checksums = Readonly<Partial<Record<ChecksumAlgorithm, string>>>

export interface ChunkLink {
  readonly id: ChunkId
  /** Plain bytes of this chunk. */
  readonly size: number
}

/** At least one of its chunks lay compressed on disk when it was committed; absent: none did. */
interface Compressed {
  readonly compression?: 'zstd'
}

/** Where bytes are that came in one piece. An inline body lies in a row of its own, so that listings never read it. */
export type PieceRecord =
  | { readonly kind: 'empty' }
  | { readonly kind: 'inline'; readonly chunkId: ChunkId; readonly sealedSize: number }
  | ({ readonly kind: 'chunks'; readonly count: number } & Compressed)

/** `parts`: assembled of so many pieces, which lie under ids of their own. */
export type BodyRecord = PieceRecord | ({ readonly kind: 'parts'; readonly count: number } & Compressed)

export interface RetentionRecord {
  readonly mode: 'GOVERNANCE' | 'COMPLIANCE'
  readonly until: number
}

export type Tags = Readonly<Record<string, string>>

/** Where a version stands among those of its key. The id is unique for ever, also of null versions. */
export interface VersionPlace {
  readonly key: string
  readonly versionId: VersionId
  /** Clients know it as `null`. At most one of a key. */
  readonly isNull: boolean
  readonly lastModified: number
  readonly older: VersionId | null
  readonly newer: VersionId | null
}

/** What may be changed of a version without making another one. */
export interface VersionSettings {
  readonly tags: Tags
  readonly retention: RetentionRecord | null
  readonly legalHold: boolean
}

export interface ObjectRecord extends VersionPlace, VersionSettings {
  readonly kind: 'object'
  readonly size: number
  readonly etag: string
  readonly contentType: string
  readonly checksums: Checksums
  readonly metadata: Readonly<Record<string, string>>
  readonly masterKeyId: string
  readonly body: BodyRecord
}

export interface DeleteMarkerRecord extends VersionPlace {
  readonly kind: 'deleteMarker'
}

export type VersionRecord = ObjectRecord | DeleteMarkerRecord

/** What of a key's versions cannot be found from its object row. Absent when both members are null. */
export interface ChainRecord {
  /** The newest version, when it is a delete marker. */
  readonly marker: VersionId | null
  /** The null version, when it is not the current object. */
  readonly nullVersion: VersionId | null
}

/** Of a tenant; null: no limit. */
export interface QuotaRecord {
  readonly maxBytes: number | null
  readonly maxObjects: number | null
  readonly maxBuckets: number | null
  readonly updatedAt: number
}

/** Limits beside what they are held against; all of one moment. */
export interface QuotaReport {
  readonly quota: QuotaRecord
  readonly usage: {
    /** Of all versions and of the parts of unfinished uploads. */
    readonly bytes: number
    readonly objects: number
    readonly buckets: number
  }
}

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

export interface PartRecord {
  readonly partNumber: number
  /** Under which its bytes lie. */
  readonly partId: VersionId
  readonly size: number
  readonly etag: string
  readonly checksums: Checksums
  readonly lastModified: number
  readonly body: PieceRecord
}

/** At most PARTS_PER_UPLOAD_PAGE a row, by their numbers; a page without parts is no row. */
export interface UploadPageRecord {
  readonly parts: readonly PartRecord[]
}

/** A part of an assembled object. */
export interface ObjectPart {
  readonly partId: VersionId
  readonly size: number
  readonly body: PieceRecord
}

/** At most PARTS_PER_PAGE a row. */
export interface PartPageRecord {
  readonly parts: readonly ObjectPart[]
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

/** Bytes that nothing needs any more and that are too many to be released at once. Not counted in any usage but physical. */
export interface DiscardRecord {
  readonly id: string
  readonly tenantId: TenantId
  readonly bucketId: BucketId
  readonly what:
    | { readonly kind: 'body'; readonly body: BodyRecord }
    /** The parts that there still are of an upload that has ended. */
    | { readonly kind: 'upload'; readonly partCount: number; readonly bytes: number }
}

/** At most 1,024 links a row. */
export interface ManifestPageRecord {
  readonly links: readonly ChunkLink[]
}

export interface InlineBodyRecord {
  /** Sealed frames, the same format as a chunk on disk. */
  readonly sealed: Uint8Array
}
