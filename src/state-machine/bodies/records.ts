/**
 * Rows of bodies: manifests, inline bytes, parts, and what is about to be released.
 */
import type { BucketId, ChunkId, TenantId, VersionId } from '../base/record-ids.ts'
import type { ChunkLink } from '../chunks/records.ts'

export type ChecksumAlgorithm = 'CRC32' | 'CRC32C' | 'CRC64NVME' | 'SHA1' | 'SHA256'

/** base64 digests by algorithm. */
export type Checksums = Readonly<Partial<Record<ChecksumAlgorithm, string>>>

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

/** What was the body of a version. Its rows stay as they are for a while, because a download may be reading them. */
export interface DiscardedBodyRecord {
  readonly id: VersionId
  readonly tenantId: TenantId
  readonly bucketId: BucketId
  readonly body: BodyRecord
  /** Index of the entry that discarded it. */
  readonly discardedAt: number
}

/** At most 1,024 links a row. */
export interface ManifestPageRecord {
  readonly links: readonly ChunkLink[]
}

export interface InlineBodyRecord {
  /** Sealed frames, the same format as a chunk on disk. */
  readonly sealed: Uint8Array
}
