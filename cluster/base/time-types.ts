/**
 * The types about time that cluster/ exports: the times an entry is applied with, corrections, and a node's view of the cluster time.
 *
 * Owns: these shapes. Knows nothing of: how a majority is counted, what expires in the service.
 * Rule: `confirmedTime` decides what expires for good, never the clock of one node.
 */
import type { LogIndex, NodeId } from '../raft/types.ts'

export interface AppliedEntry {
  readonly index: LogIndex
  /** The time of the log, ms since 1970: the time that a majority's clocks had reached. It falls only where `before` is present. */
  readonly time: number
  /** Not later than `time`: it decides what expires for good. Steps that an operator has not confirmed are withheld. */
  readonly confirmedTime: number
  /** The highest `time` so far: it never falls. */
  readonly orderTime: number
  /** The times before the correction that this entry's only command carries. Absent: there is no correction. */
  readonly before?: { readonly time: number; readonly confirmedTime: number }
  /** Feature level of the state when this entry is applied: the meaning of a command may depend on it. */
  readonly featureLevel: number
  readonly commands: readonly Uint8Array[]
}

/** An operator's correction of the time of the log; it takes effect with the entry of the command that carries it. */
export type TimeCorrection =
  /** Up to this much of the withheld time is correct: the confirmed time advances by it. ms */
  | { readonly kind: 'confirm'; readonly withheldMs: number }
  /** The log goes back to the majority's time, which was `seenTime` when the operator looked. */
  | { readonly kind: 'setBack'; readonly seenTime: number }

/** How far the clock of one voter is from the majority's time. Ahead is positive. ms */
export interface ClockOffset {
  readonly nodeId: NodeId
  readonly offsetMs: number
}

/** What this node knows about the time of the cluster. */
export interface ClusterTimeStatus {
  /** The time that a majority's clocks have reached; null: this node does not know it now. ms since 1970 */
  readonly majorityTime: number | null
  /** Offset of the own clock; null while the majority's time is not known. Ahead is positive. ms */
  readonly offsetMs: number | null
  /** At the leader: of each voter that it has received from lately, this node included. */
  readonly offsets: readonly ClockOffset[]
  /** Time of the last entry applied here. ms since 1970 */
  readonly logTime: number
  readonly confirmedTime: number
}

export interface ClusterTimePort {
  /** The majority's time, advanced by the monotonic clock; the own clock until this node knows the majority's time. ms since 1970 */
  now(): number
  status(): ClusterTimeStatus
}
