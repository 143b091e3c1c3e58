/**
 * What crosses the door of cluster/: plain data and four ports (Cluster, Blobs, StateMachine, CopyLedger).
 *
 * Owns: the contract between the machine and the service on top of it.
 * Knows nothing of: tenants, buckets, object keys, HTTP, JSON; shows terms, votes and leaders only as metrics and reasons.
 */
import type { BlobId, Blobs, CopyLedger, NodeRepair, RepairStatus } from './blob-types.ts'
import type { DiskThresholds } from './disk-level.ts'
import type { FileOps } from './file-ops.ts'
import type { MemberDoubt } from './member-doubt.ts'
import type { LogIndex, NodeId, RefusalReason } from '../raft/types.ts'
import type { ProposeOptions, RoomNeed } from './room-need.ts'
import type { StateDamagedError } from './state-errors.ts'
import type { AppliedEntry, ClusterTimePort } from './time-types.ts'

export type { LogIndex, NodeId, ProposeOptions, RoomNeed }
export * from './blob-types.ts'
export * from './state-errors.ts'
export * from './time-types.ts'
/** host:port */
export type PeerAddress = string
export interface Member {
  readonly nodeId: NodeId
  readonly peerAddress: PeerAddress
  readonly zone: string
  /** Relative share of blobs; 1 unless said otherwise. */
  readonly weight: number
}
/** What may change. */
export type Place = Pick<Member, 'peerAddress' | 'zone' | 'weight'>

export interface TlsFiles {
  readonly ca: string
  readonly cert: string
  readonly key: string
}

export interface ClusterOptions {
  readonly clusterId: string
  readonly nodeId: NodeId
  /** Absolute. The machine owns `raft/`, `blobs/`, `identity.json`, `members.json`, `recovery.json`, `skipped-entries.json`, `disk-proof.json`, `disk-marker`, `scrub.json` and `sweep.json` in it. */
  readonly dataDir: string
  /** In memory; null: the first such folder of this machine. */
  readonly witnessDir?: string | null
  readonly listen: PeerAddress
  /**
   * The first members, this node included; the same on every node. Of a node that joins: those it may hear from first. What the
   * data directory knows of members counts for more from its first start on.
   */
  readonly members: readonly Member[]
  /** This node belongs to no group yet and waits to be taken in. */
  readonly isJoining?: boolean
  /** Shown to operators. */
  readonly version?: string
  readonly tls: TlsFiles | null
  /** Opaque; written at every start, compared at the next (the service puts the master key's fingerprint here). */
  readonly fingerprint: string
  /** What may stand there from earlier starts as well. */
  readonly olderFingerprints?: readonly string[]
  readonly heartbeatMs: number
  readonly electionTimeoutMs: number
  /** A node whose clock is further from the majority's is not ready and hands over; CLOCK_SKEW_MAX_MS unless said otherwise. */
  readonly clockSkewMaxMs?: number
  /** Applied entries kept in the log for followers that lag. Count and bytes; the lower limit wins. */
  readonly logKeepEntries: number
  readonly logKeepBytes: number
  /** Kept on disk for members that lag or read a snapshot, with what is kept anyway. Bytes. */
  readonly logPinBytes: number
  /** No copy on this node's disk stays unread for longer; 7 days unless said otherwise. */
  readonly scrubEveryMs?: number
  /** From how full the disk of the blobs takes less and less; DISK_THRESHOLDS unless said otherwise. */
  readonly diskThresholds?: DiskThresholds
}

export interface ApplyBatch {
  /** In log order. */
  readonly entries: readonly AppliedEntry[]
  /** The machine's own record (applied index, configuration, sessions): opaque bytes to be stored in the same atomic write. */
  readonly record: Uint8Array
}

/**
 * The replicated state. Guarantees asked of an implementation (test/port-suites/state-machine.ts proves them):
 *  - `apply` is called with one batch at a time and resolves when rows and `record` are durable together, or not at all;
 *  - replies come in the order of the commands; the same entries always give the same rows and replies;
 *  - it never throws for a command it dislikes: a refusal is a reply. A throw is a bug and stops the node: an EntryFailedError, which
 *    names the entry, where an entry could not be decided; anything else where the store failed;
 *  - stored bytes that are not what was written are never used: every call throws StateDamagedError instead;
 *  - whoever meets damage of the state in use, be it a reader that the machine knows nothing of, has it told to the machine at
 *    once and before hearing of it, and once for each state. From then on nobody reads that state and `apply` throws, until an
 *    install has replaced it;
 *  - `checksum` is a function of the rows alone: equal rows give equal checksums on every node, however they came to be.
 *    It is kept up to date by `apply`, stored in the same atomic write, and never computed from what the disk shows;
 *  - `snapshot` is a consistent cut and does not block `apply`;
 *  - `install` builds the new state in a fresh place, verifies it against the source's checksum, and switches durably and
 *    atomically; on failure the old state stands. What it has already pulled and verified is kept for the next attempt, also
 *    over a restart and another source.
 */
export interface StateMachine {
  /**
   * Verifies everything after an unclean stop (`checksum` against all rows); after a clean stop only what it opens. Damage that is
   * met later, in this state or in one that an install brings, is told to `onDamaged`.
   */
  open(onDamaged?: (error: StateDamagedError) => void): Promise<OpenedState>
  apply(batch: ApplyBatch): Promise<readonly (readonly Uint8Array[])[]>
  /** Rows that a command may change, to bound a batch. Absent: it is guessed from the bytes. */
  cost?(command: Uint8Array): number
  /** Of the rows as of the last durable batch, the record not counted. 32 bytes. */
  checksum(): Uint8Array
  /** Reads every row of a consistent cut and compares with the checksum; does not block `apply`. Null, or what is wrong. */
  verify(): Promise<string | null>
  /** Nothing of the state is used from the call on; durable when it resolves: `open` reports `why` as the fault until an install. */
  distrust(why: string): Promise<void>
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
  /** Not null: what stands on the disk must not be used. Nothing but `install` and `close` may be called then. */
  readonly fault: string | null
  /** Nothing was applied since it was installed, so it may be ahead of the log. Absent: not known. */
  readonly isInstalled?: boolean
}

/** What a snapshot of the state offers, whether it is here or at a peer. */
export interface StateSource {
  /** The record stored by the last batch that the cut contains. */
  readonly record: Uint8Array
  /** Of all rows of the cut. */
  readonly checksum: Uint8Array
  /** The rows after `after`, in the order of their keys. */
  block(request: StateBlockRequest): Promise<StateBlock>
}

export interface StateCut extends StateSource {
  /** Gives the cut up. Idempotent. */
  release(): Promise<void>
}

export interface StateBlockRequest {
  /** Key of the last row that the asker holds already; empty: begin with the first. */
  readonly after: Uint8Array
  /** The asker holds rows (after, through] with this SHA-256: if they are the same here, none are sent. `bytes` stays with it. */
  readonly held: { readonly through: Uint8Array; readonly digest: Uint8Array; readonly bytes?: number } | null
}

/** At most STATE_BLOCK_BYTES_MAX of rows, or one row. */
export interface StateBlock {
  /** Rows in the format of docs/formats/row.md; null when what the asker holds is the same here. */
  readonly rows: Uint8Array | null
  /** SHA-256 over `rows`, or over what they would have been. */
  readonly digest: Uint8Array
  /** Key of the last row that this block speaks of: the next request goes on after it. */
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

/** The operator must act before this node can start: foreign cluster, wrong fingerprint, unknown member, damaged log, port in use. */
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

/** Prometheus-shaped facts: the machine measures itself without knowing the metrics library. */
export interface MetricSample {
  /** Full name with unit, e.g. holdfast_raft_commit_index. Counters end in _total. */
  readonly name: string
  readonly help: string
  readonly kind: 'gauge' | 'counter'
  readonly value: number
  readonly labels?: Readonly<Record<string, string>>
}

export interface Readiness {
  readonly ready: boolean
  /** Sentences that name what is missing; empty when ready. */
  readonly reasons: readonly string[]
  /** Code with which the others have said that they never hear this data directory again: it does not become ready. */
  readonly expelled?: string | null
  /** The clock of this node is too far from the majority's, by this much; ahead is positive. ms */
  readonly clockSkewMs?: number
}

/** Structural subset of pino: cluster/ logs through whatever it is given. */
export interface Logger {
  fatal(fields: object, message: string): void
  error(fields: object, message: string): void
  warn(fields: object, message: string): void
  info(fields: object, message: string): void
  debug(fields: object, message: string): void
  child(fields: object): Logger
}

/** Who the members are, as of one moment. */
export interface KnownMembers {
  readonly members: readonly Member[]
  /** Names that were removed or lost: they are never used again. */
  readonly departed: readonly NodeId[]
  /** Later truth has a higher one; 0: as configured. */
  readonly index: LogIndex
}

/** How one member stands, in its own words. */
export interface MemberStatus {
  readonly nodeId: NodeId
  readonly incarnation: string
  readonly version: string
  /** What its code can apply. */
  readonly featureLevel: number
  /** What one must know to apply its state. */
  readonly stateLevel: number
  readonly isJoining: boolean
  readonly isReady: boolean
  readonly isLeader: boolean
  readonly term: number
  readonly leaderId: NodeId | null
  readonly commitIndex: LogIndex
  readonly appliedIndex: LogIndex
  readonly configuration: {
    readonly voters: readonly NodeId[]
    readonly learners: readonly NodeId[]
    /** Not empty: a change of more than one vote is under way. */
    readonly outgoing: readonly NodeId[]
  }
  readonly configurationIndex: LogIndex
  /** At the leader: all others. */
  readonly peers: readonly {
    readonly nodeId: NodeId
    readonly matchIndex: LogIndex
    readonly silentMs: number
    /** Behind the end of the leader's log. */
    readonly lagEntries: number
    readonly lagBytes: number
  }[]
  /** When each member was last heard by this one; a missing one was not heard by this process. */
  readonly heardMs: Readonly<Record<NodeId, number>>
  /** Rises when the group is brought back from a lost quorum. Absent: told by a version that knew of none. */
  readonly recoveryEpoch?: number
  /** Its own, and what it knows of others. Absent: told by a version that knew of none. */
  readonly doubts?: readonly MemberDoubt[]
  /** Of the state, at some indexes that it has passed: equal indexes have equal sums on every node. */
  readonly checksums: readonly (readonly [index: LogIndex, checksum: string])[]
}

/** What a node says that is asked whether it may be taken in. */
export interface NewcomerStatus {
  readonly registered?: string | null
  readonly nodeId: NodeId
  readonly incarnation: string
  /** It has never voted and waits. */
  readonly isJoining: boolean
  readonly featureLevel: number
  readonly version: string
  /** Of the certificate that it showed, as the asking node saw it. Null or absent: nodes speak without TLS. */
  readonly fingerprint?: string | null
}

/** By which an operator knows a node before it is taken in. */
export interface NodeIdentity {
  readonly nodeId: NodeId
  /** Of its data directory. */
  readonly incarnation: string
  /** Where it listens for nodes. */
  readonly peerAddress: PeerAddress
  /** SHA-256 of the certificate that it shows to nodes, as openssl writes it; null: none. */
  readonly fingerprint: string | null
}

/** The order cannot be followed as it is. */
export class MembershipRefusedError extends Error {
  readonly reason: RefusalReason
  constructor(reason: RefusalReason, message: string) {
    super(message)
    this.name = 'MembershipRefusedError'
    this.reason = reason
  }
}

/** Who belongs to the group: what the machine sees of it, and how it is changed. */
export interface MembershipPort {
  /** This node waits to be taken in. */
  readonly isJoining: boolean
  readonly identity: NodeIdentity
  /** What the operator has changed of this node in its configuration since it was last committed; null: nothing. */
  readonly ownPlace: Place | null
  local(): MemberStatus
  /** Within seconds; null: silent. */
  ask(nodeId: NodeId): Promise<MemberStatus | null>
  /** Of all members, this one included. Never rejects. */
  memberStatuses(): Promise<ReadonlyMap<NodeId, MemberStatus | null>>
  /**
   * Asks a node that need not belong yet. `isWelcome`: it is told who the members are. Resolves with a word instead when it says no
   * (`foreign_cluster`, `expelled`, ...) or shows a certificate of another node (`certificate_of_another`), `unreachable` with or without
   * a reason behind it, or `unusable_address`.
   */
  newcomer(nodeId: NodeId, address: PeerAddress, isWelcome: boolean): Promise<NewcomerStatus | string>
  /**
   * At the leader alone. Resolves when the group is what is wanted; `index` is the `configurationIndex` that was seen. Throws
   * MembershipRefusedError or Condition.
   */
  change(
    target: { readonly voters: readonly NodeId[]; readonly learners: readonly NodeId[] },
    index: LogIndex,
  ): Promise<void>
  /** Resolves when the present leader does not lead any more; null: to whom it likes. Throws Condition. */
  transfer(target: NodeId | null): Promise<void>
  /**
   * From now on these are the members, for addresses, placement and questions, unless this node knows later ones. `isJoining` false:
   * this node has been made one. Durable when it resolves.
   */
  setMembers(known: KnownMembers, isJoining: boolean): Promise<void>
}

export interface Cluster {
  readonly nodeId: NodeId
  readonly clusterId: string
  readonly blobs: Blobs
  readonly membership: MembershipPort
  readonly time: ClusterTimePort
  /** Resolves with the reply once the command is applied on THIS node: once, however often it is retried inside. Throws Condition. */
  propose(command: Uint8Array, how?: ProposeOptions): Promise<Uint8Array>
  /** Whether the state here is at this feature level, now or within this time: then every member knows it. Throws Condition. */
  reachesLevel(level: number, withinMs: number): Promise<boolean>
  /** After it resolves, reads of the local state see everything that was acknowledged anywhere before the call. Throws Condition. */
  readBarrier(): Promise<void>
  readiness(): Readiness
  /** Whether this node should do what one node is enough for. A hint, true on one at most times: nothing may depend on that. */
  isJobRunner(): boolean
  /**
   * The members that should hold the copies of a blob, best first: the same on every node with the same members, but for
   * those whose disk is full or suspect, as far as this node has heard of it lately.
   */
  placement(id: BlobId): readonly NodeId[]
  /** Bytes per second for repair, scrub and the compaction of packs together; null: no limit. Holds at once. Throws RangeError below 1. */
  setRepairRate(bytesPerSecond: number | null): void
  /**
   * Reads every copy of this node back as fast as the rate allows, in a pass that begins now, once for each word: the word of
   * the last call is in `repairStatus` with what came of it. Null: nothing is asked for, the scrub keeps its ordinary pace.
   */
  demandScrub(word: string | null): void
  repairStatus(): RepairStatus
  /** Of all members, each asked by itself, in their order; within seconds whoever does not answer. Never rejects. */
  repairStatuses(): Promise<readonly NodeRepair[]>
  metrics(): readonly MetricSample[]
  /** The fingerprint of this start is not that of the group: the next start may have another. Durable when it resolves. */
  forgetFingerprint(): Promise<void>
  /** Hands leadership over, finishes what runs, closes the log. Idempotent. */
  stop(): Promise<void>
  /** Resolves with the cause when the node must stop by itself (fsync error, a damaged state that nobody replaces). Never rejects. */
  readonly failed: Promise<Error>
}

export interface ClusterParts {
  readonly stateMachine: StateMachine
  readonly copyLedger: CopyLedger
  readonly logger: Logger
  /** For tests: another disk under the blobs. */
  readonly blobFiles?: FileOps
}
