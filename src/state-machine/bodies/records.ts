/**
 * Rows of bodies: manifests, inline bytes, parts, and discarded bodies and parts.
 */
import type { BucketId, ChunkId, TenantId, VersionId } from '../base/record-ids.ts'
import type { ChunkLink } from '../chunks/records.ts'

export type ChecksumAlgorithm = 'CRC32' | 'CRC32C' | 'CRC64NVME' | 'SHA1' | 'SHA256'

/** base64 digests by algorithm. */
export type Checksums = Readonly<Partial<Record<ChecksumAlgorithm, string>>>

/** How the digest of an assembled object is made: over its bytes, or over the digests of its parts. [S3: checksum types] */
export type ChecksumType = 'COMPOSITE' | 'FULL_OBJECT'

/** `checksum`: base64 of the digest over the raw digests of the parts, in order, and `-` and their number, as S3 writes it. */
export interface CompositeChecksum {
  readonly algorithm: ChecksumAlgorithm
  readonly checksum: string
}

/** Present: at least one of its chunks was compressed on disk when it was committed. */
interface Compressed {
  readonly compression?: 'zstd'
}

/**
 * Of a body that is sealed with a key that the client sends with each request: what is kept instead of the key. [docs/adr/0092-keys-of-clients.md]
 */
export interface CustomerSeal {
  /** Random, of this object or upload alone; base64url. */
  readonly salt: string
  /** HMAC-SHA256 that only the same key gives, with the salt and a secret of the tenant; base64url. */
  readonly proof: string
}

/** Where the bytes of one upload request are. An inline body has a row of its own, so that listings never read it. */
export type PieceRecord =
  | { readonly kind: 'empty' }
  | { readonly kind: 'inline'; readonly chunkId: ChunkId; readonly sealedSize: number }
  | ({ readonly kind: 'chunks'; readonly count: number } & Compressed)

/** Assembled from `count` pieces, each with an id of its own. */
export interface AssembledRecord extends Compressed {
  readonly kind: 'parts'
  readonly count: number
  /** Bytes before each page of parts behind the first. Absent: there is one page, or it was assembled below feature level 4. */
  readonly pageStarts?: readonly number[]
}

export type BodyRecord = PieceRecord | AssembledRecord

export interface PartRecord {
  readonly partNumber: number
  /** The id under which its bytes are stored. */
  readonly partId: VersionId
  readonly size: number
  readonly etag: string
  readonly checksums: Checksums
  readonly lastModified: number
  readonly body: PieceRecord
}

/** At most PARTS_PER_UPLOAD_PAGE parts, by number; a page without parts has no row. */
export interface UploadPageRecord {
  readonly parts: readonly PartRecord[]
}

/** A part of an assembled object. */
export interface ObjectPart {
  readonly partId: VersionId
  readonly size: number
  readonly body: PieceRecord
  /** The number it was uploaded under. Absent, as the next: the object was assembled below feature level 4. */
  readonly partNumber?: number
  readonly checksums?: Checksums
}

/** At most PARTS_PER_PAGE parts. */
export interface PartPageRecord {
  readonly parts: readonly ObjectPart[]
}

/** Bytes that are no longer needed and too many to release at once. They count only in physical usage. */
export interface DiscardRecord {
  readonly id: string
  readonly tenantId: TenantId
  readonly bucketId: BucketId
  readonly what:
    | { readonly kind: 'body'; readonly body: BodyRecord }
    /** The remaining parts of an upload that has ended. */
    | { readonly kind: 'upload'; readonly partCount: number; readonly bytes: number }
}

/** The body of a removed version. Its rows stay unchanged for a while, because a download may be reading them. */
export interface DiscardedBodyRecord {
  readonly id: VersionId
  readonly tenantId: TenantId
  readonly bucketId: BucketId
  readonly body: BodyRecord
  /** Index of the entry that discarded it. */
  readonly discardedAt: number
}

/** At most LINKS_PER_PAGE links. */
export interface ManifestPageRecord {
  readonly links: readonly ChunkLink[]
}

export interface InlineBodyRecord {
  /** Sealed frames in the format of a chunk on disk. */
  readonly sealed: Uint8Array
  /** Version of the tenant's data key that seals it. Absent: 1. */
  readonly keyVersion?: number
}
