/**
 * Rows of usage and quotas.
 */

/** Exact at any moment: each figure changes in the entry that changes what it counts. */
export interface UsageRecord {
  /** As of buckets, summed. */
  readonly objects: number
  readonly versions: number
  readonly deleteMarkers: number
  readonly logicalBytes: number
  readonly uploads: number
  readonly uploadBytes: number
  /** Chunks with a row, condemned ones too: their bytes still lie on disks. */
  readonly chunkCount: number
  readonly chunkBytes: number
  readonly storedBytes: number
  /** Sealed bytes times listed copies. */
  readonly copyBytes: number
  readonly inlineBytes: number
  /** Plain bytes of chunks that are referred to again: what would be stored as well if nothing were shared. */
  readonly dedupSavedBytes: number
  /** Plain bytes of chunks less their sealed bytes, of those that are smaller sealed. */
  readonly compressionSavedBytes: number
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
