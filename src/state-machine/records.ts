/**
 * What the replicated metadata consists of: one record type per kind of row.
 *
 * Owns: the shapes. Plain data that MessagePack can carry: no Date, no Map, no undefined members (null instead).
 * Times are milliseconds since 1970 UTC as stamped by the log; sizes are bytes. Layout of the row keys: keys.ts.
 */
/** Master keys in the file of a node. */
export const MASTER_KEYS_MAX = 8
/** Sealed secrets that one entry replaces at most. */
export const REWRAP_ITEMS_MAX = 256

export type TenantId = string & { readonly flavour?: 'TenantId' }
export type BucketId = string & { readonly flavour?: 'BucketId' }
export type AccessKeyId = string & { readonly flavour?: 'AccessKeyId' }
/** 26 characters, Crockford base32, ascending in the order of the log. */
export type VersionId = string & { readonly flavour?: 'VersionId' }
/** HMAC-SHA256(tenant dedup key, plaintext of the chunk), lower-case hex. */
export type ChunkId = string & { readonly flavour?: 'ChunkId' }

export interface TenantRecord {
  readonly id: TenantId
  readonly name: string
  readonly status: 'active' | 'disabled'
  readonly createdAt: number
  readonly disabledAt: number | null
  readonly disabledReason: string | null
  /** Sealed under the master key: the key that derives chunk keys, and the key of the chunk ids. Empty once shredded. */
  readonly dataKey: Uint8Array
  readonly dedupKey: Uint8Array
  /** Which master key sealed them. */
  readonly masterKeyId: string
  readonly bucketCount: number
}

export interface AccessKeyRecord {
  readonly accessKeyId: AccessKeyId
  readonly tenantId: TenantId
  readonly name: string | null
  /** Verbatim, as the caller gave it. */
  readonly scopes: string
  /** Sealed under the master key. */
  readonly secret: Uint8Array
  readonly status: 'active' | 'revoked'
  /** Rises with every rotation; tokens carry it. */
  readonly version: number
  readonly createdAt: number
  readonly expiresAt: number | null
  readonly rotatedAt: number | null
  readonly revokedAt: number | null
  readonly revokedReason: string | null
}

export type AdminRole = 'viewer' | 'operator' | 'owner'

export interface AdminTokenRecord {
  readonly tokenId: string
  readonly name: string
  readonly role: AdminRole
  readonly tenantId: TenantId | null
  readonly createdAt: number
  readonly expiresAt: number | null
  readonly revokedAt: number | null
  /** SHA-256 of the whole token, lower-case hex. The token itself is stored nowhere. */
  readonly sha256: string
}

export interface BucketRecord {
  /** Unique for ever: a bucket made again under the same name has another id, so old rows can never reappear in it. */
  readonly id: BucketId
  readonly tenantId: TenantId
  readonly name: string
  readonly createdAt: number
  readonly versioning: 'Unversioned' | 'Enabled' | 'Suspended'
  readonly objectLockEnabled: boolean
  readonly objectCount: number
  readonly logicalBytes: number
}

export type ChecksumAlgorithm = 'CRC32' | 'CRC32C' | 'CRC64NVME' | 'SHA1' | 'SHA256'

/** base64 digests by algorithm. */
export type Checksums = Readonly<Partial<Record<ChecksumAlgorithm, string>>>

export interface ChunkLink {
  readonly id: ChunkId
  /** Plain bytes of this chunk. */
  readonly size: number
}

/** Where the bytes are. An inline body lies in a row of its own, so that listings never read it. */
export type BodyRecord =
  | { readonly kind: 'empty' }
  | { readonly kind: 'inline'; readonly chunkId: ChunkId }
  | { readonly kind: 'chunks'; readonly count: number }

export interface ObjectRecord {
  readonly key: string
  readonly versionId: VersionId
  readonly size: number
  readonly etag: string
  readonly contentType: string
  readonly lastModified: number
  readonly checksums: Checksums
  readonly metadata: Readonly<Record<string, string>>
  readonly masterKeyId: string
  readonly body: BodyRecord
}

/** At most 1,024 links a row. */
export interface ManifestPageRecord {
  readonly links: readonly ChunkLink[]
}

export interface InlineBodyRecord {
  /** Sealed frames, the same format as a chunk on disk. */
  readonly sealed: Uint8Array
}

export interface ChunkRecord {
  readonly id: ChunkId
  readonly tenantId: TenantId
  readonly birth: string
  /** Plain bytes, and sealed bytes as they lie on disk. */
  readonly size: number
  readonly sealedSize: number
  /** SHA-256 of the sealed bytes, lower-case hex. */
  readonly checksum: string
  /** Node ids that hold a durable copy. */
  readonly replicas: readonly string[]
  /** Object versions (each counted once per occurrence in a manifest) that need it. */
  readonly references: number
  /** Log index at which references fell to zero; null while referenced. A later commit may revive it. */
  readonly condemnedAt: number | null
}

/** A copy that should exist and does not. One row per (target node, chunk). */
export interface RepairRecord {
  readonly tenantId: TenantId
  readonly chunkId: ChunkId
  readonly birth: string
  readonly target: string
  readonly since: number
}

/** The one row that says which master key this cluster seals with. */
export interface ClusterKeyRecord {
  readonly masterKeyFingerprint: string
  /** By node: the master keys it has, the one it wants first. Absent before the first node said so. */
  readonly holders?: Readonly<Record<string, readonly string[]>>
}
