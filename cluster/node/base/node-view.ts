/** What the parts of the driver may know of the node besides their own inputs: read once for each input, immutable. */
import type { LeaderView } from './leader-view.ts'

export interface NodeView {
  /** Of the node's `Clock`. ms */
  readonly now: number
  readonly leaderView: LeaderView
  /** Why the state here cannot be used, as a sentence; null when it can. */
  readonly unreadable: string | null
  /** The group has removed this node permanently: waiting is useless. */
  readonly hasLeft: boolean
}
