/**
 * What the rows say about one copy on one node's disk: it must stay, may be removed, or is undecided.
 *
 * Owns: the one decision that may delete bytes. Knows nothing of: disks, callers, clocks.
 * Rule: `dropping` and `abandoned` are final except for a task of this node: no later entry can make the copy needed
 * unless one first grants this node a task for it, and that task makes or verifies the copy again.
 *
 * Why that holds. Only two kinds of command list a node for a birth. First, a commit lists the copies of a fresh upload.
 * `abandoned` is returned only if the birth's session is closed or the birth is below its low-water mark; both are final,
 * and apply refuses such a commit. `dropping` is returned only after a commit of this birth, and a gateway does not propose
 * a birth in a second command. Second, a finished task lists its target. Apply counts it only while exactly the granted
 * task exists (same log index); this view has no task, and one granted later had not started when this view was read. So
 * a node removes nothing that is needed if it reads its own applied rows and unlinks under the lock that its copier
 * holds from the check of a copy until the task is committed. A view that lags permits less, never more: sessions only end,
 * and a birth of an unknown session is undecided. But the view must not lag behind earlier actions of its own node: a
 * process whose state was replaced by an older one passes a read barrier before it removes anything.
 */
import { chunkKeys } from './keys.ts'
import type { View } from '../base/view.ts'
import { stateOfBirth } from './upload-sessions.ts'

export type CopyStatus =
  /** A row lists it. */
  | 'listed'
  /** A task for this node: it is being made, or is spare until the task is committed. */
  | 'owed'
  /** A committed row orders this node to remove it. */
  | 'dropping'
  /** No row names it and none can: it is left over from an upload that has ended. */
  | 'abandoned'
  /** Its upload may still commit, or this view lags behind. */
  | 'undecided'

export function copyStatus(
  view: View,
  copy: { readonly id: string; readonly birth: string },
  holder: string,
): CopyStatus {
  // Rows may be written while these are read, so the session is read first: once it has ended, every commit of this birth
  // is already in the rows below. If it were read last, a commit in between could be missed.
  const hasEnded = stateOfBirth(view, copy.birth) === 'ended'
  const making = view.get(chunkKeys.making(copy.birth, copy.id))
  const present = making === undefined ? undefined : view.get(chunkKeys.chunk(making.tenantId, copy.id))
  const chunk = present?.birth === copy.birth ? present : undefined
  if (chunk?.replicas.includes(holder) === true) return 'listed'
  if (chunk?.owed.includes(holder) === true) return 'owed'
  if (view.get(chunkKeys.drop(holder, copy.birth, copy.id)) !== undefined) return 'dropping'
  return hasEnded ? 'abandoned' : 'undecided'
}
