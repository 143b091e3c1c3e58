/**
 * Rows of usage and quotas.
 */

/** Always exact: each figure changes in the entry that changes the rows that it counts. */
export interface UsageRecord {
  /** Sums over the tenant's buckets. */
  readonly objects: number
  readonly versions: number
  readonly deleteMarkers: number
  readonly logicalBytes: number
  readonly uploads: number
  readonly uploadBytes: number
  /** Chunks with a row, also condemned ones: their bytes are still on disks. */
  readonly chunkCount: number
  readonly chunkBytes: number
  readonly storedBytes: number
  /** Sealed bytes times listed copies. */
  readonly copyBytes: number
  readonly inlineBytes: number
  /** Plain bytes of all references to chunks beyond the first: what would be stored in addition without sharing. */
  readonly dedupSavedBytes: number
  /** Plain bytes less sealed bytes, over the chunks whose sealed form is smaller. */
  readonly compressionSavedBytes: number
  /** Of versions, delete markers, uploads, parts and configurations of buckets (record-bytes.ts). Absent: none was counted. */
  readonly metadataBytes?: number
  /** Chunks, and their sealed bytes, whose key only a client has; part of the figures above. Absent: there never were any. */
  readonly customerChunks?: number
  readonly customerBytes?: number
}

/** The limits of a tenant; null: no limit. */
export interface QuotaRecord {
  readonly maxBytes: number | null
  readonly maxObjects: number | null
  readonly maxBuckets: number | null
  /** Versions and delete markers. Absent: no limit. */
  readonly maxVersions?: number
  /** Unfinished uploads; the parts of an upload count as metadata. Absent: no limit. */
  readonly maxUploads?: number
  /** Absent: follows from the other limits. */
  readonly maxMetadataBytes?: number
  readonly updatedAt: number
}

/** Limits, and the usage that they apply to, at one moment. */
export interface QuotaReport {
  readonly quota: QuotaRecord
  readonly usage: {
    /** Bytes of all versions and of the parts of unfinished uploads. */
    readonly bytes: number
    readonly objects: number
    readonly buckets: number
    /** Versions and delete markers. */
    readonly versions: number
    readonly uploads: number
    readonly metadataBytes: number
  }
  /** The limit of metadata that holds, given or derived; null: none. */
  readonly metadataBytesMax: number | null
}
