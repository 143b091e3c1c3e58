/**
 * Decides whether this node's disk may get an owed copy.
 *
 * Knows nothing of: tasks, retries. Rule: a suspect disk gets a copy only of a blob that has too few copies without it, because a
 * copy that may be lost is better than none; a full disk gets none.
 */
import { BLOB_LIMITS } from '../blobs/base/blob-limits.ts'
import type { DiskUsage } from '../blobs/base/blob-store.ts'
import { takesNewBlobs } from '../base/disk-level.ts'
import type { BlobRef } from '../base/types.ts'

/** Null: no obstacle. */
export function diskObstacle(
  { level, isSuspect }: Pick<DiskUsage, 'level' | 'isSuspect'>,
  { replicas }: Pick<BlobRef, 'replicas'>,
): 'full' | 'suspect' | null {
  if (!takesNewBlobs(level)) return 'full'
  return isSuspect && replicas.length >= BLOB_LIMITS.copiesNeeded ? 'suspect' : null
}
