/**
 * What crosses the door of cluster/ about time: the times an entry is applied with, corrections, and what a node knows of the hour.
 *
 * Owns: these shapes. Knows nothing of: how a majority is counted, what the service ends by time.
 * Rule: what ends something for good is judged by `confirmedTime`, never by the clock of one node.
 */
import type { LogIndex, NodeId } from '../raft/types.ts'

export interface AppliedEntry {
  readonly index: LogIndex
  /** The time of the log, ms since 1970: what a majority's clocks had reached. It falls only where `before` says so. */
  readonly time: number
  /** Not later than `time`: what ends something for good is judged by it. Steps that an operator has not confirmed are withheld. */
  readonly confirmedTime: number
  /** The latest `time` there ever was: it never falls. */
  readonly orderTime: number
  /** How the time stood before the correction that the one command of this entry came with. Absent: it came with none. */
  readonly before?: { readonly time: number; readonly confirmedTime: number }
  /** Of the state when this entry is applied: what a command may mean depends on it. */
  readonly featureLevel: number
  readonly commands: readonly Uint8Array[]
}

/** An operator's word on the time of the log; it takes effect with the entry of the command that it comes with. */
export type TimeCorrection =
  /** What was withheld up to this much is true: the confirmed time moves on by it. ms */
  | { readonly kind: 'confirm'; readonly withheldMs: number }
  /** The log goes back to the majority's time, which was `seenTime` when the operator looked. */
  | { readonly kind: 'setBack'; readonly seenTime: number }

/** How far the clock of one voter is from the majority's time. Ahead is positive. ms */
export interface ClockOffset {
  readonly nodeId: NodeId
  readonly offsetMs: number
}

/** What this node knows of the time of the cluster. */
export interface ClusterTimeStatus {
  /** What a majority's clocks have reached by now; null: this node does not know it now. ms since 1970 */
  readonly majorityTime: number | null
  /** Of the own clock; null while the majority's time is not known. Ahead is positive. ms */
  readonly offsetMs: number | null
  /** At the leader: of each voter heard lately, this node included. */
  readonly offsets: readonly ClockOffset[]
  /** Of the last entry applied here. ms since 1970 */
  readonly logTime: number
  readonly confirmedTime: number
}

export interface ClusterTimePort {
  /** The hour as a majority tells it, carried on by the monotonic clock; the own clock until this node has heard of it. ms since 1970 */
  now(): number
  status(): ClusterTimeStatus
}
