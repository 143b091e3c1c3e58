/**
 * Which copies may be removed from a disk.
 *
 * Rule: call it under the lock of the copy, with the status from the state that this node has applied at that moment. A status read
 * before the lock was held is no basis for a removal, because a task may have been granted, started and ended since.
 */
import type { CopyStatus } from '../base/types.ts'

export function mayRemove(copyStatus: CopyStatus): boolean {
  return copyStatus === 'dropping' || copyStatus === 'abandoned'
}
