/**
 * What the rows say of one copy on one node's disk: whether it must stay, may go, or nobody can tell yet.
 *
 * Owns: the one question whose answer may delete bytes. Knows nothing of: disks, who asks, clocks.
 * Rule: `dropping` and `abandoned` are final but for a task of this node: nothing in the log that follows can make the
 * copy needed unless it first grants this node a task for it, and that task makes or verifies the copy anew.
 *
 * Why that holds. A node comes to be listed for a birth by two commands only. A commit lists the copies of a fresh
 * upload: `abandoned` is said only when the birth's session is closed or its low-water mark is past, both for ever, and
 * apply refuses such a commit; `dropping` is said after a commit of this birth, and a gateway proposes a birth in no
 * second command. A finished task lists its target: apply counts it only while the very task is there that was granted
 * (same log index), this view holds none, and one granted later was not begun when this view was read. So a node that
 * reads its own applied rows and unlinks under the lock that its copier holds from the check of a copy until the task is
 * committed removes nothing that is needed. A view that lags says less, never more: sessions only end, and a birth whose
 * session it does not know is undecided. But it must not lag behind what its own node did before: a process whose state
 * was replaced by an older one passes a read barrier before it removes anything.
 */
import { chunkKeys } from './keys.ts'
import type { View } from '../base/view.ts'
import { stateOfBirth } from './sessions.ts'

export type CopyStanding =
  /** A row counts on it. */
  | 'listed'
  /** A task for this node: it is being made, or is spare until the task is committed. */
  | 'owed'
  /** A committed row tells this node to remove it. */
  | 'dropping'
  /** No row names it and none can: left over from an upload that ended. */
  | 'abandoned'
  /** Its upload may still commit, or this view lags behind. */
  | 'undecided'

export function standing(
  view: View,
  copy: { readonly id: string; readonly birth: string },
  holder: string,
): CopyStanding {
  // Rows may be written while these are read, so the session comes first: once it has ended, whatever is committed under
  // this birth is there already, and the rows below show it. Read last, it could hide a commit that came in between.
  const hasEnded = stateOfBirth(view, copy.birth) === 'ended'
  const making = view.get(chunkKeys.making(copy.birth, copy.id))
  const present = making === undefined ? undefined : view.get(chunkKeys.chunk(making.tenantId, copy.id))
  const chunk = present?.birth === copy.birth ? present : undefined
  if (chunk?.replicas.includes(holder) === true) return 'listed'
  if (chunk?.owed.includes(holder) === true) return 'owed'
  if (view.get(chunkKeys.drop(holder, copy.birth, copy.id)) !== undefined) return 'dropping'
  return hasEnded ? 'abandoned' : 'undecided'
}
