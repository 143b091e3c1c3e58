/**
 * Which copies may be removed from a disk.
 *
 * Rule: asked under the lock of the copy, of the state that this node has applied at that moment; an answer that is
 * older than the lock is worth nothing, for a task may have been granted, begun and ended since.
 */
import type { CopyStanding } from '../base/types.ts'

export function mayRemove(standing: CopyStanding): boolean {
  return standing === 'dropping' || standing === 'abandoned'
}
