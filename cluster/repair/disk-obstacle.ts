/**
 * Whether this node's disk is one to make an owed copy on, as a decision.
 *
 * Knows nothing of: tasks, retries. Rule: a suspect disk gets a copy only of what would else have too few, because a copy
 * that may be lost is better than none; a full disk gets none.
 */
import { BLOB_LIMITS } from '../blobs/base/blob-limits.ts'
import type { DiskUsage } from '../blobs/base/blob-store.ts'
import { takesNewBlobs } from '../base/disk-level.ts'
import type { BlobRef } from '../base/types.ts'

/** Null: none. */
export function diskObstacle(
  { level, isSuspect }: Pick<DiskUsage, 'level' | 'isSuspect'>,
  { replicas }: Pick<BlobRef, 'replicas'>,
): 'full' | 'suspect' | null {
  if (!takesNewBlobs(level)) return 'full'
  return isSuspect && replicas.length >= BLOB_LIMITS.copiesNeeded ? 'suspect' : null
}
