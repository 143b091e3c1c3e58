/**
 * The leader and term as the core last reported them. Rule: a hint; the node that is asked decides.
 */
import type { NodeId, Term } from '../../raft/types.ts'

export interface LeaderView {
  readonly term: Term
  readonly leaderId: NodeId | null
  /** This node leads. */
  readonly isLeader: boolean
}
