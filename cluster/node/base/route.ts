/**
 * Where proposals and reads go now, as the core last told. Rule: a hint; whoever is asked decides.
 */
import type { NodeId, Term } from '../../raft/types.ts'

export interface Route {
  readonly term: Term
  readonly leaderId: NodeId | null
  /** This node leads. */
  readonly isLeader: boolean
}
