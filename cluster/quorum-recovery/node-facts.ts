/**
 * What a stopped node knows of the group, as far as a plan to bring it back needs it.
 *
 * Owns: the shape. Knows nothing of: files, signatures, what the service stores. Everything is plain data and travels as JSON.
 */
import type { Obstacle } from '../node/state/apply-failure.ts'
import type { Configuration, LogBase, LogIndex, NodeId, Term } from '../raft/types.ts'

export interface NodeFacts {
  readonly clusterId: string
  readonly nodeId: NodeId
  readonly incarnation: string
  /** Processes started on the data directory so far: a node that was started since is not the one that was looked at. */
  readonly boot: number
  readonly recoveryEpoch: number
  /** A plan that was applied here and has not taken effect yet. */
  readonly pendingPlan: string | null
  readonly term: Term
  readonly votedFor: NodeId | null
  /** The log holds what lies after it. */
  readonly base: LogBase
  readonly last: LogBase
  /** Committed for certain: nothing is applied before. */
  readonly applied: LogBase
  readonly committed: { readonly configuration: Configuration; readonly index: LogIndex }
  /** The last in the log: in force, committed or not. */
  readonly latest: { readonly configuration: Configuration; readonly index: LogIndex }
  /** Why nothing can be built on this node; null: its log is whole, and every row of its state was read and fits the checksum. */
  readonly fault: string | null
  readonly holes: readonly { readonly index: LogIndex; readonly term: Term | null }[]
  /** Of the state at the applied index, and as the entries after it would leave it, one by one, up to the obstacle. */
  readonly checksums: readonly (LogBase & { readonly checksum: string })[]
  /** The first entry of the log that cannot be applied; null: there is none, or the state cannot be used. */
  readonly obstacle: Obstacle | null
  /** Entries that this directory skips by order of an operator. */
  readonly skips: readonly { readonly planId: string; readonly index: LogIndex; readonly term: Term }[]
  /** The latest process of each node that its state has registered. */
  readonly registered: readonly { readonly nodeId: NodeId; readonly boot: number }[]
  /** Whom it knew as members last. */
  readonly members: readonly NodeId[]
}
