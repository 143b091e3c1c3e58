/**
 * The facts about the group that a stopped node holds and a plan needs.
 *
 * Owns: the shape. Knows nothing of: files, signatures, what the service stores. Everything is plain data and travels as JSON.
 */
import type { Obstacle } from '../node/state/apply-failure.ts'
import type { Configuration, LogBase, LogIndex, NodeId, Term } from '../raft/types.ts'

export interface NodeFacts {
  readonly clusterId: string
  readonly nodeId: NodeId
  readonly incarnation: string
  /** The count of processes on the data directory: it shows whether the node was started after its report. */
  readonly boot: number
  readonly recoveryEpoch: number
  /** A plan that was applied here and has not taken effect yet. */
  readonly pendingPlan: string | null
  readonly term: Term
  readonly votedFor: NodeId | null
  /** The log holds the entries after it. */
  readonly base: LogBase
  readonly last: LogBase
  /** Certainly committed: only committed entries are applied. */
  readonly applied: LogBase
  readonly committed: { readonly configuration: Configuration; readonly index: LogIndex }
  /** The last configuration in the log: in force, committed or not. */
  readonly latest: { readonly configuration: Configuration; readonly index: LogIndex }
  /** Why a plan cannot use this node; null: its log is whole, and every row of its state was read and matches the checksum. */
  readonly fault: string | null
  readonly holes: readonly { readonly index: LogIndex; readonly term: Term | null }[]
  /** Checksums of the state at the applied index, and after each following entry up to the obstacle. */
  readonly checksums: readonly (LogBase & { readonly checksum: string })[]
  /** The first entry of the log that cannot be applied; null: there is none, or the state cannot be used. */
  readonly obstacle: Obstacle | null
  /** Entries that this directory skips by an order of the operator. */
  readonly skips: readonly { readonly planId: string; readonly index: LogIndex; readonly term: Term }[]
  /** The latest process of each node that its state has registered. */
  readonly registered: readonly { readonly nodeId: NodeId; readonly boot: number }[]
  /** The members that it knew last. */
  readonly members: readonly NodeId[]
}
