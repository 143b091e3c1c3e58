/**
 * The types that cluster/ exports: plain data and four ports (Cluster, Blobs, StateMachine, CopyLedger).
 *
 * Owns: the contract between the machine and the service on top of it.
 * Knows nothing of: tenants, buckets, object keys, HTTP, JSON; shows terms, votes and leaders only as metrics and reasons.
 */
import type {
  BlobId,
  BlobName,
  Blobs,
  CopyLedger,
  DiskOrder,
  DiskOrdered,
  DiskPlaces,
  NodeRepair,
  RepairStatus,
} from './blob-types.ts'
import type { DiskThresholds } from './disk-level.ts'
import type { FileOps } from './file-ops.ts'
import type { Gossip } from './gossip-channel.ts'
import type { Reports } from './report-port.ts'
import type { LatencyFigures } from './latency-histogram.ts'
import type { MemberStatus, NewcomerStatus } from './member-types.ts'
import type { LogIndex, NodeId, RefusalReason } from '../raft/types.ts'
import type { ProposeOptions, RoomNeed } from './room-need.ts'
import type { StateDamagedError } from './state-errors.ts'
import type { PeerTraces } from './peer-traces.ts'
import type { AppliedEntry, ClusterTimePort } from './time-types.ts'

export type { LogIndex, NodeId, ProposeOptions, RoomNeed }
export * from './blob-types.ts'
export * from './member-types.ts'
export type { PeerTraces, TracedPiece, Traceparent } from './peer-traces.ts'
export * from './state-errors.ts'
export * from './time-types.ts'
/** host:port */
export type PeerAddress = string
export interface Member {
  readonly nodeId: NodeId
  readonly peerAddress: PeerAddress
  readonly zone: string
  /** Relative share of blobs; the default is 1. */
  readonly weight: number
  /** What the file of the node says, where the group holds something else. Absent: the file holds. */
  readonly file?: { readonly zone: string; readonly weight: number }
}
/** The properties of a member that may change. */
export type Place = Pick<Member, 'peerAddress' | 'zone' | 'weight'>

export interface TlsFiles {
  readonly ca: string
  readonly cert: string
  readonly key: string
}

export interface ClusterOptions {
  readonly clusterId: string
  readonly nodeId: NodeId
  /** Absolute. The machine owns `raft/`, `blobs/`, `identity.json`, `members.json`, `recovery.json`, `skipped-entries.json`, `disk-proof.json`, `disk-marker`, `scrub.json`, `sweep.json` and `disks.json` in it. */
  readonly dataDir: string
  /** In memory; null: the first such folder of this machine. */
  readonly witnessDir?: string | null
  /** Seals the data of log entries on the disk; null or absent: they lie there as they are. */
  readonly metadataKey?: Uint8Array | null
  readonly listen: PeerAddress
  /**
   * The first members, this node included; the same on every node. For a joining node: the members that may contact it first. From
   * the second start on, the members in the data directory take precedence.
   */
  readonly members: readonly Member[]
  /** This node belongs to no group yet and waits to be added. */
  readonly isJoining?: boolean
  /** Shown to operators. */
  readonly version?: string
  readonly tls: TlsFiles | null
  /** Opaque; written at every start, compared at the next (the service passes the master key's fingerprint). */
  readonly fingerprint: string
  /** Fingerprints of earlier starts that are accepted as well. */
  readonly olderFingerprints?: readonly string[]
  readonly heartbeatMs: number
  readonly electionTimeoutMs: number
  /** A node whose clock is further from the majority's is not ready and hands leadership over; the default is CLOCK_SKEW_MAX_MS. */
  readonly clockSkewMaxMs?: number
  /** Applied entries kept in the log for followers that lag. Count and bytes; the lower limit wins. */
  readonly logKeepEntries: number
  readonly logKeepBytes: number
  /** Limit of the log kept on disk for members that lag or read a snapshot, including the entries that are kept anyway. Bytes. */
  readonly logPinBytes: number
  /** No copy on this node's disk stays unread for longer; the default is 7 days. */
  readonly scrubEveryMs?: number
  /** Absolute, each once, none in another or in the data directory: where blobs lie, each on a disk of its own. Absent or empty: `blobs/` in the data directory. */
  readonly blobDirectories?: readonly string[]
  /** Copies of this size and more are written without the page cache, where the system can; Infinity: none. The default is 1 MiB. Bytes */
  readonly directIoFromBytes?: number
  /** From where on the disk accepts less; the default is DISK_THRESHOLDS. */
  readonly diskThresholds?: DiskThresholds
  /** Raft with its log, timers and peers runs on a thread of its own; the default is the thread of the caller. */
  readonly raftThread?: boolean
  /** This node measures single entries of its log for traces; the default is that it measures none. */
  readonly timesEntries?: boolean
}

export interface ApplyBatch {
  /** In log order. */
  readonly entries: readonly AppliedEntry[]
  /** The machine's own record (applied index, configuration, sessions): opaque bytes that belong into the same atomic write. */
  readonly record: Uint8Array
}

/**
 * The replicated state. Guarantees that an implementation must give (test/port-suites/state-machine.ts checks them):
 *  - `apply` is called with one batch at a time and resolves when rows and `record` are in the state together, or not at all. It may flush
 *    nothing: after a power cut the state is as after one of the batches, the last one before a `checkpoint` or a later one;
 *  - `checkpoint` may be called at any time, and makes everything durable that was applied before. A state that was opened or installed is;
 *  - replies come in the order of the commands; the same entries always give the same rows and replies;
 *  - it never throws for a command that it refuses: a refusal is a reply. A throw is a bug and stops the node: an EntryFailedError,
 *    which names the entry, where an entry could not be decided; any other error where the store failed;
 *  - stored bytes that differ from what was written are never used: every call throws StateDamagedError instead;
 *  - damage of the state in use is reported to the machine at once, once for each state, and before the caller that met it gets the
 *    error, even if the machine does not know that caller. From then on no caller reads that state and `apply` throws, until an
 *    install has replaced it;
 *  - `checksum` is a function of only the rows: equal rows give equal checksums on every node, however they were made.
 *    `apply` updates it and stores it in the same atomic write; it is never computed from rows read from disk;
 *  - `snapshot` is a consistent cut and does not block `apply`;
 *  - `install` builds the new state in a fresh place, verifies it against the source's checksum, and switches durably and
 *    atomically; on failure the old state stays. Rows that were pulled and verified are kept for the next attempt, also over a
 *    restart and from another source.
 */
export interface StateMachine {
  /**
   * Verifies everything after an unclean stop (`checksum` against all rows); after a clean stop only the files that it opens.
   * `onDamaged` receives damage that is found later, in this state or in one that an install brings.
   */
  open(onDamaged?: (error: StateDamagedError) => void): Promise<OpenedState>
  apply(batch: ApplyBatch): Promise<readonly (readonly Uint8Array[])[]>
  /** What was applied before the call is durable when it resolves. Until then the log has to keep it. */
  checkpoint(): Promise<void>
  /** Rows that a command may change, to bound a batch. Absent: it is estimated from the bytes. */
  cost?(command: Uint8Array): number
  /** Checksum of the rows as of the last batch, without the record. 32 bytes. */
  checksum(): Uint8Array
  /** Reads every row of a consistent cut and compares with the checksum; does not block `apply`. Resolves with null, or with the fault. */
  verify(): Promise<string | null>
  /** From the call on the state is not used. Durable when it resolves: `open` reports `why` as the fault until an install. */
  quarantine(why: string): Promise<void>
  /** Throws when nothing was ever applied. */
  snapshot(): Promise<StateCut>
  /** Resolves with the record of the source. Rejects with the error of the source when a pull fails. */
  install(source: StateSource): Promise<Uint8Array>
  /** A clean stop: `open` may skip the full verification after it. */
  close(): Promise<void>
}

export interface OpenedState {
  /** The record of the last durable batch; null when nothing was ever applied, and when there is a fault. */
  readonly record: Uint8Array | null
  /** Not null: the state on disk must not be used. Only `install` and `close` may be called then. */
  readonly fault: string | null
  /** Nothing was applied since the state was installed, so it may be ahead of the log. Absent: not known. */
  readonly isInstalled?: boolean
}

/** A snapshot of the state, local or at a peer. */
export interface StateSource {
  /** The record stored by the last batch that the cut contains. */
  readonly record: Uint8Array
  /** Of all rows of the cut. */
  readonly checksum: Uint8Array
  /** The rows after `after`, in the order of their keys. */
  block(request: StateBlockRequest): Promise<StateBlock>
}

export interface StateCut extends StateSource {
  /** Frees the cut. Idempotent. */
  release(): Promise<void>
}

export interface StateBlockRequest {
  /** Key of the last row that the requester holds already; empty: start with the first. */
  readonly after: Uint8Array
  /** The requester holds rows (after, through] with this SHA-256: if they are the same here, none are sent. `bytes` is for its own use. */
  readonly held: { readonly through: Uint8Array; readonly digest: Uint8Array; readonly bytes?: number } | null
}

/** At most STATE_BLOCK_BYTES_MAX of rows, or one row. */
export interface StateBlock {
  /** Rows in the format of docs/formats/row.md; null when the requester holds the same rows. */
  readonly rows: Uint8Array | null
  /** SHA-256 over the rows of the block, whether they are sent or not. */
  readonly digest: Uint8Array
  /** Key of the last row of this block: the next request continues after it. */
  readonly through: Uint8Array
  /** No row follows. */
  readonly isEnd: boolean
}

export const STATE_BLOCK_BYTES_MAX: number = 1024 * 1024

// ---------------------------------------------------------------------------------------------

export type ConditionCode =
  | 'no_leader'
  | 'no_quorum'
  | 'leader_not_ready'
  | 'commit_unknown'
  | 'not_enough_replicas'
  | 'slow_down'
  | 'disk_full'
  | 'shutting_down'

/** The machine cannot serve now. `commit_unknown`: the command may or may not take effect. */
export class Condition extends Error {
  readonly code: ConditionCode
  readonly retryAfterMs: number
  constructor(code: ConditionCode, message: string, options: ErrorOptions & { retryAfterMs?: number } = {}) {
    super(message, options)
    this.name = 'Condition'
    this.code = code
    this.retryAfterMs = options.retryAfterMs ?? 1000
  }
}

/** The operator must act before this node can start: another cluster, wrong fingerprint, unknown member, damaged log, port in use. */
export class StartError extends Error {
  readonly code: string
  /** What to do, one sentence. */
  readonly hint: string
  constructor(code: string, message: string, options: ErrorOptions & { hint: string }) {
    super(message, options)
    this.name = 'StartError'
    this.code = code
    this.hint = options.hint
  }
}

/** Samples in the shape of Prometheus: the machine reports metrics without knowing the metrics library. */
export interface MetricSample {
  /** Full name with unit, e.g. holdfast_raft_commit_index. Counters end in _total. */
  readonly name: string
  readonly help: string
  readonly kind: 'gauge' | 'counter' | 'histogram'
  /** Of a histogram: the number of observations. */
  readonly value: number
  readonly labels?: Readonly<Record<string, string>>
  /** Of a histogram. */
  readonly latency?: LatencyFigures
}

export interface Readiness {
  readonly ready: boolean
  /** Sentences that name what is missing; empty when ready. */
  readonly reasons: readonly string[]
  /** Code with which the other members have rejected this data directory for good: it does not become ready. */
  readonly expelled?: string | null
  /** The clock of this node is too far from the majority's, by this much; ahead is positive. ms */
  readonly clockSkewMs?: number
}

/** Structural subset of pino: cluster/ logs through the logger that it is given. */
export interface Logger {
  fatal(fields: object, message: string): void
  error(fields: object, message: string): void
  warn(fields: object, message: string): void
  info(fields: object, message: string): void
  debug(fields: object, message: string): void
  child(fields: object): Logger
}

/** The members as of one moment. */
export interface KnownMembers {
  readonly members: readonly Member[]
  /** Names that were removed or lost: they are never used again. */
  readonly departed: readonly NodeId[]
  /** Index of the entry that committed them: a higher one is later; 0: as configured. */
  readonly index: LogIndex
}

/** Facts by which an operator recognizes a node before it is added. */
export interface NodeIdentity {
  readonly nodeId: NodeId
  /** The name of its data directory. */
  readonly incarnation: string
  /** Where it listens for nodes. */
  readonly peerAddress: PeerAddress
  /** SHA-256 of the certificate that it presents to nodes, in the notation of openssl; null: it has none. */
  readonly fingerprint: string | null
}

/** The requested change of the members was refused. */
export class MembershipRefusedError extends Error {
  readonly reason: RefusalReason
  constructor(reason: RefusalReason, message: string) {
    super(message)
    this.name = 'MembershipRefusedError'
    this.reason = reason
  }
}

/** The members of the group: their status as the machine sees it, and changes of them. */
export interface MembershipPort {
  /** This node waits to be added. */
  readonly isJoining: boolean
  readonly identity: NodeIdentity
  /** This node's place as configured, if it differs from the committed one; null: it does not differ. */
  readonly ownPlace: Place | null
  /** The feature level of the state here: one member of `local`, for those who ask with each request. */
  readonly stateLevel: number
  local(): MemberStatus
  /** Resolves within seconds; null: the node does not answer. */
  ask(nodeId: NodeId): Promise<MemberStatus | null>
  /** Of all members, this one included. Never rejects. */
  memberStatuses(): Promise<ReadonlyMap<NodeId, MemberStatus | null>>
  /**
   * Asks a node that need not be a member yet. `isWelcome`: the request carries the members. Resolves with a code instead when the node
   * refuses (`foreign_cluster`, `expelled`, ...) or presents a certificate of another node (`certificate_of_another`), when it is
   * `unreachable`, with or without a reason after that word, or when the address is an `unusable_address`.
   */
  newcomer(nodeId: NodeId, address: PeerAddress, isWelcome: boolean): Promise<NewcomerStatus | string>
  /**
   * Only at the leader. Resolves when the group has the target configuration; `index` is the `configurationIndex` that the caller saw.
   * Throws MembershipRefusedError or Condition.
   */
  change(
    target: { readonly voters: readonly NodeId[]; readonly learners: readonly NodeId[] },
    index: LogIndex,
  ): Promise<void>
  /** Resolves when the present leader no longer leads; `target` null: the leader chooses. Throws Condition. */
  transfer(target: NodeId | null): Promise<void>
  /**
   * From now on these are the members, for addresses, placement and calls, unless this node knows later ones. `isJoining` false:
   * this node is a member now. Durable when it resolves.
   */
  setMembers(known: KnownMembers, isJoining: boolean): Promise<void>
}

export interface Cluster {
  readonly nodeId: NodeId
  readonly clusterId: string
  readonly blobs: Blobs
  readonly membership: MembershipPort
  readonly time: ClusterTimePort
  readonly gossip: Gossip
  readonly histories: Reports
  readonly doctors: Reports
  /** Resolves with the reply once the command is applied on THIS node: it is applied once, however often it is retried. Throws Condition. */
  propose(command: Uint8Array, how?: ProposeOptions): Promise<Uint8Array>
  /** True if the state here is at this feature level now or within this time: then every member knows the level. Throws Condition. */
  reachesLevel(level: number, withinMs: number): Promise<boolean>
  /** After it resolves, reads of the local state see everything that was acknowledged anywhere before the call. Throws Condition. */
  readBarrier(): Promise<void>
  readiness(): Readiness
  /** True if this node should run jobs that one node can do for all. A hint, true on one node most of the time: nothing may depend on it. */
  isJobRunner(): boolean
  /** The members that should hold the copies of a blob, best first: the same on every node but for those whose disks report full or suspect. */
  placement(id: BlobId): readonly NodeId[]
  /** Bytes per second for repair, scrub and the compaction of packs together; null: no limit. Takes effect at once. Throws RangeError below 1. */
  setRepairRate(bytesPerSecond: number | null): void
  /**
   * Reads every copy of this node back as fast as the rate allows, in a pass that starts now, once for each word: `repairStatus` has
   * the word of the last call and the outcome of its pass. Null: no pass is demanded, the scrub keeps its ordinary pace.
   */
  demandScrub(word: string | null): void
  repairStatus(): RepairStatus
  /** The status of all members, each asked separately, in their order; within seconds even if members do not answer. Never rejects. */
  repairStatuses(): Promise<readonly NodeRepair[]>
  /** Carried out by the member; what it marked is durable there when it resolves. Throws the errors of this node's own disk. */
  orderDisk(nodeId: NodeId, order: DiskOrder): Promise<DiskOrdered>
  /** At most DISK_PLACES_MAX names. Null: the member does not answer, or has one disk. */
  diskPlaces(nodeId: NodeId, names: readonly BlobName[]): Promise<DiskPlaces | null>
  /** As of the call. Never rejects. */
  metrics(): Promise<readonly MetricSample[]>
  /** The fingerprint of this start is not that of the group: the next start may use another. Durable when it resolves. */
  forgetFingerprint(): Promise<void>
  /** Hands leadership over, finishes running work, closes the log. Idempotent. */
  stop(): Promise<void>
  /** Resolves with the cause when the node must stop by itself (fsync error, a damaged state that no peer replaces). Never rejects. */
  readonly failed: Promise<Error>
}

/** Runs the work as a measured part of what it is done for, and settles as it does. */
export type Trace = <T>(
  name: string,
  attributes: Readonly<Record<string, string | number | boolean>>,
  work: () => Promise<T>,
) => Promise<T>

export interface ClusterParts {
  readonly stateMachine: StateMachine
  readonly copyLedger: CopyLedger
  readonly logger: Logger
  /** Downloads that this node serves now: when it leaves, the others wait for their end. Absent: it counts none. */
  readonly downloads?: () => number
  /** Measures the copies of blobs for the requests that write them. Absent or null: nothing is measured. */
  readonly trace?: Trace | null
  /** Traces over several nodes. Absent or null: this node takes part in none. */
  readonly peerTraces?: PeerTraces | null
  /** For tests: another disk under the blobs. */
  readonly blobFiles?: FileOps
}
