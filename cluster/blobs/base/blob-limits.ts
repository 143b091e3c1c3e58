/**
 * Every bound of replicated blobs, in one place, so that memory can be computed: a node holds at most
 * (writesMax + lateCopiesMax) blobs of its own writes, and of its peers' only the pieces on the wire, but for small blobs:
 * these are whole in memory while they are written, within PACK_LIMITS.
 */
export interface BlobLimits {
  /** Copies wanted, R, and copies that must be durable, W. Fewer members mean fewer of both. */
  readonly copiesWanted: number
  readonly copiesNeeded: number
  /** Once W copies are durable: how long to wait for the rest, since a late copy costs a log entry of its own. */
  readonly graceMs: number
  /** Once W copies are durable, all in one zone, and another zone has nodes: how long to wait for one of those. */
  readonly zoneWaitMs: number
  /** Writes of this node under way, and writes that wait for their turn. */
  readonly writesMax: number
  readonly writesWaitingMax: number
  readonly writeWaitMs: number
  /** Blobs smaller than this travel together to a peer, as they lie together there. Bytes. */
  readonly batchedBelowBytes: number
  /** Copies that may go on after their write was answered; beyond this they are cut off and left to repair. */
  readonly lateCopiesMax: number
  /** Calls of peers under way and waiting, for each kind. */
  readonly incomingPutsMax: number
  readonly incomingGetsMax: number
  readonly incomingWaitingMax: number
  readonly incomingWaitMs: number
  /** One call to a peer until its answer, and one gap between two pieces of a stream. */
  readonly callTimeoutMs: number
  readonly stallMs: number
  /** A peer that could not be reached is left alone for this long; the time doubles up to the maximum. */
  readonly coolDownMs: number
  readonly coolDownMaxMs: number
  readonly reportsMax: number
  /** Each node asks each other one about its disk so often, and believes an answer for so long. */
  readonly diskAskEveryMs: number
  readonly diskBelievedMs: number
  /** A read that has not begun by the 95th percentile of late, within these bounds, is asked of a second copy too. */
  readonly hedgeDelayMinMs: number
  readonly hedgeDelayMaxMs: number
  /** Second reads per read, at most, over time: a cluster that is slow as a whole must not be asked twice as much. */
  readonly hedgeShareMax: number
}

export const BLOB_LIMITS: BlobLimits = {
  copiesWanted: 3,
  copiesNeeded: 2,
  graceMs: 150,
  zoneWaitMs: 2_000,
  writesMax: 32,
  writesWaitingMax: 128,
  writeWaitMs: 5_000,
  batchedBelowBytes: 256 * 1024,
  lateCopiesMax: 16,
  incomingPutsMax: 32,
  incomingGetsMax: 128,
  incomingWaitingMax: 128,
  incomingWaitMs: 2_000,
  callTimeoutMs: 10_000,
  stallMs: 10_000,
  coolDownMs: 500,
  coolDownMaxMs: 4_000,
  reportsMax: 16,
  diskAskEveryMs: 2_000,
  diskBelievedMs: 10_000,
  hedgeDelayMinMs: 20,
  hedgeDelayMaxMs: 1_000,
  hedgeShareMax: 0.1,
}
