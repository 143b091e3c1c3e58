/**
 * Every bound of replicated blobs, in one place, so that memory use can be computed: a node holds at most
 * (writesMax + lateCopiesMax) blobs of its own writes. Of its peers' writes it holds only the pieces on the wire, except for
 * small blobs: these are in memory as a whole while they are written, within PACK_LIMITS.
 */
export interface BlobLimits {
  /** Copies wanted (R), and copies that must be durable before the answer (W). With fewer members, both are lower. */
  readonly copiesWanted: number
  readonly copiesNeeded: number
  /** Once W copies are durable: how long to wait for the remaining ones, because a late copy costs its own log entry. */
  readonly graceMs: number
  /** Once W copies are durable, all in one zone, and another zone has nodes: how long to wait for a copy on one of those nodes. */
  readonly zoneWaitMs: number
  /** Writes of this node in progress, writes that wait for a slot, and how long one waits. */
  readonly writesMax: number
  readonly writesWaitingMax: number
  readonly writeWaitMs: number
  /** Blobs smaller than this are sent to a peer in batches, because the peer stores them together in a pack. Bytes. */
  readonly batchedBelowBytes: number
  /** Copies that may continue after their write was answered; above this number they are aborted and left to repair. */
  readonly lateCopiesMax: number
  /** Calls of peers in progress and waiting, for each kind. */
  readonly incomingPutsMax: number
  readonly incomingGetsMax: number
  readonly incomingWaitingMax: number
  readonly incomingWaitMs: number
  /** The time limit of one call to a peer until its answer, and of the gap between two pieces of a stream. */
  readonly callTimeoutMs: number
  readonly stallMs: number
  /** A peer that could not be reached is not called for this long; the time doubles up to the maximum. */
  readonly coolDownMs: number
  readonly coolDownMaxMs: number
  readonly reportsMax: number
  /** How often each node asks every other node about its disk, and for how long an answer counts. */
  readonly diskAskEveryMs: number
  readonly diskBelievedMs: number
  /** A read without a first piece after the 95th percentile of recent reads, within these bounds, is sent to a second copy too. */
  readonly hedgeDelayMinMs: number
  readonly hedgeDelayMaxMs: number
  /** At most this many second reads per read, over time: a cluster that is slow as a whole must not get twice the load. */
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
