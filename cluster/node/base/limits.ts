/**
 * Every bound of the driver in one place, with its unit.
 *
 * Owns: the numbers. Knows nothing of: their users. Rule: everything that grows with load has its bound here.
 */
import type { RaftLimits } from '../../raft/types.ts'
import { FEATURE_LEVEL } from './feature-level.ts'

const MIB = 1024 * 1024

export interface NodeLimits {
  /** Proposals of this node that are not finished. Count; more is refused with `slow_down`. */
  readonly proposalsPendingMax: number
  /** Distance between the newest sequence and the oldest unfinished one. Bounds the session row in the record. */
  readonly sequenceWindowMax: number
  /** One command. Bytes. With the envelope it must fit into `raft.entryBytesMax`. */
  readonly commandBytesMax: number
  /** One entry, and one `propose` call: the limit that is reached first ends the batch. Count and bytes. */
  readonly batchProposalsMax: number
  readonly batchBytesMax: number
  /** One entry also ends where its proposals may change so many rows together. Count. */
  readonly batchCostMax: number
  /** Proposals of all nodes that wait at the leader for their entry. Count. */
  readonly batcherQueueMax: number
  /** `propose` calls under way from this node. Count. */
  readonly forwardsInflightMax: number
  readonly forwardTimeoutMs: number
  /** A proposal that is not applied by then fails. ms */
  readonly proposalDeadlineMs: number
  /** First and largest pause before a refused proposal or read is tried again. ms */
  readonly retryMinMs: number
  readonly retryMaxMs: number
  /** A change of the members that is not complete by then fails. ms */
  readonly configurationDeadlineMs: number
  /** Handed to one StateMachine.apply: entries, bytes, and rows that they may change. One entry is taken regardless of its cost. */
  readonly applyEntriesMax: number
  readonly applyBytesMax: number
  readonly applyCostMax: number
  /** Read rounds under way in the core. Count. */
  readonly readRoundsMax: number
  /** Callers of readBarrier that wait. Count; more is refused with `slow_down`. */
  readonly readersMax: number
  readonly readDeadlineMs: number
  /** Snapshots that this node sends at the same time. Count. */
  readonly snapshotsServedMax: number
  /** A member that is silent for longer keeps nothing of the log on disk. ms */
  readonly logPinSilentMs: number
  readonly snapshotCallTimeoutMs: number
  /** A snapshot whose reader is silent for so long is dropped. ms */
  readonly snapshotIdleMs: number
  /** First and largest pause between two rounds of log repair. ms */
  readonly repairRetryMinMs: number
  readonly repairRetryMaxMs: number
  readonly repairCallTimeoutMs: number
  /** How often a running node asks all others for a state in place of its damaged one, with the pauses of log repair, before it stops. Count. */
  readonly rebuildAttemptsMax: number
  /** Checksums of the state are taken at indexes that are multiples of this. The same on every node. Count. */
  readonly checksumEvery: number
  /** Between two comparisons with the others. ms */
  readonly compareEveryMs: number
  readonly compareTimeoutMs: number
  /** Between two readings of the whole state. ms */
  readonly verifyEveryMs: number
  /** Age of a write of the log that is not durable: from here the disk is stalled, from there it is dead. ms */
  readonly diskStallMs: number
  readonly diskDeadMs: number
  /** Committed and not yet applied at the leader: with more of it new proposals are refused. Count and bytes. */
  readonly unappliedEntriesMax: number
  readonly unappliedBytesMax: number
  /** Committed and not yet applied by a majority of the voters: with more of it new proposals are refused. Count and bytes. */
  readonly voterBacklogEntriesMax: number
  readonly voterBacklogBytesMax: number
  /** A node whose applied index is further behind its commit index is not ready. Count. */
  readonly applyLagMax: number
  /** The highest feature level that this node knows. Entries and peers that need more are refused. */
  readonly featureLevelMax: number
  readonly raft: RaftLimits
}

export const DEFAULT_NODE_LIMITS: NodeLimits = {
  proposalsPendingMax: 1_024,
  sequenceWindowMax: 8_192,
  commandBytesMax: 3 * MIB,
  batchProposalsMax: 512,
  batchBytesMax: MIB,
  batchCostMax: 16_384,
  batcherQueueMax: 16_384,
  forwardsInflightMax: 4,
  forwardTimeoutMs: 3_000,
  proposalDeadlineMs: 10_000,
  retryMinMs: 20,
  retryMaxMs: 500,
  configurationDeadlineMs: 60_000,
  applyEntriesMax: 256,
  applyBytesMax: 4 * MIB,
  applyCostMax: 32_768,
  readRoundsMax: 4,
  readersMax: 16_384,
  readDeadlineMs: 5_000,
  snapshotsServedMax: 8,
  logPinSilentMs: 60_000,
  snapshotCallTimeoutMs: 30_000,
  snapshotIdleMs: 30_000,
  repairRetryMinMs: 250,
  repairRetryMaxMs: 5_000,
  repairCallTimeoutMs: 10_000,
  rebuildAttemptsMax: 20,
  checksumEvery: 4_096,
  compareEveryMs: 30_000,
  compareTimeoutMs: 5_000,
  verifyEveryMs: 24 * 3_600_000,
  diskStallMs: 500,
  diskDeadMs: 10_000,
  unappliedEntriesMax: 5_000,
  unappliedBytesMax: 64 * MIB,
  voterBacklogEntriesMax: 50_000,
  voterBacklogBytesMax: 256 * MIB,
  applyLagMax: 4_096,
  featureLevelMax: FEATURE_LEVEL,
  raft: {
    entryBytesMax: 4 * MIB,
    messageBytesMax: MIB,
    inflightMessagesMax: 64,
    inflightBytesMax: 8 * MIB,
    uncommittedBytesMax: 32 * MIB,
    windowBytesMax: 16 * MIB,
    windowEntriesMax: 16_384,
  },
}
