/**
 * The vocabulary of the Raft core: what goes in, what comes out, what a message looks like.
 *
 * Owns: the plain-data types that the driver, the WAL and the transport share with the core. Knows nothing of: clocks, sockets, files,
 * tenants. Everything here is data, so that a whole execution can be written down, replayed and compared.
 */

/** A flavour distinguishes two kinds of numbers (a Term is not a LogIndex) and still allows plain arithmetic. */
export type NodeId = string & { readonly flavour?: 'NodeId' }
export type Term = number & { readonly flavour?: 'Term' }
export type LogIndex = number & { readonly flavour?: 'LogIndex' }

/** Must be durable before any message that depends on it leaves the node. [thesis fig. 3.1] */
export interface HardState {
  readonly currentTerm: Term
  readonly votedFor: NodeId | null
}

/** `noop` opens a leader's term [thesis 6.4]; `command` carries opaque bytes of the driver; `configuration` a Configuration. */
export type EntryKind = 'noop' | 'command' | 'configuration'

export interface Entry {
  readonly index: LogIndex
  readonly term: Term
  readonly kind: EntryKind
  /** Opaque to the core. Empty for `noop`. */
  readonly data: Uint8Array
}

/** The members with and without a vote. `outgoing` is the old half while a joint change is under way [thesis 4.3]. */
export interface Configuration {
  readonly voters: readonly NodeId[]
  readonly learners: readonly NodeId[]
  readonly outgoing: readonly NodeId[]
}

/** Where the log begins: only the state machine holds everything up to and including `index`. */
export interface LogBase {
  readonly index: LogIndex
  readonly term: Term
}

export type Role = 'follower' | 'preCandidate' | 'candidate' | 'leader'

// ---------------------------------------------------------------------------------------------
// Messages. Each carries the sender's term; `from` and `to` are members, never addresses.

interface Envelope {
  readonly from: NodeId
  readonly to: NodeId
  readonly term: Term
  /** The disk of the sender is not proved to hold all that it promised. Absent: it is. */
  readonly doubt?: DiskDoubt
}

/**
 * Whether the disk of this member holds everything that the member has ever promised. `proved`: nothing indicates otherwise. `suspect`:
 * an older copy of the disk could look the same. `rolledBack`: it certainly does not hold everything.
 */
export type DiskTrust = 'proved' | DiskDoubt
export type DiskDoubt = 'suspect' | 'rolledBack'

/** An empty `entries` is the heartbeat. `readToken` opens or repeats a read round [thesis 6.4]. */
export interface AppendEntries extends Envelope {
  readonly type: 'AppendEntries'
  readonly prevLogIndex: LogIndex
  readonly prevLogTerm: Term
  readonly entries: readonly Entry[]
  readonly leaderCommit: LogIndex
  /** Highest read token of this leader and term that a reply to this message confirms; 0 when none. */
  readonly readToken: number
}

export interface AppendEntriesResponse extends Envelope {
  readonly type: 'AppendEntriesResponse'
  readonly success: boolean
  /** On success: last index known to match AND durable. On failure: the rejected prevLogIndex. */
  readonly index: LogIndex
  /** On failure: the index that the follower suggests to probe next, and the term of its entry there. */
  readonly hintIndex: LogIndex
  readonly hintTerm: Term
  /** Echo of `AppendEntries.readToken`: this member received a message of the leader of this term after the token was made. */
  readonly readToken: number
}

/** `preVote` asks without raising a term [thesis 9.6]; `transfer` marks an election ordered by the leader [thesis 3.10]. */
export interface RequestVote extends Envelope {
  readonly type: 'RequestVote'
  readonly preVote: boolean
  readonly transfer: boolean
  readonly lastLogIndex: LogIndex
  readonly lastLogTerm: Term
  /** The answer must name the commit index. Never set before the state of a member is at the feature level of disk doubts. */
  readonly asksCommit?: true
}

export interface RequestVoteResponse extends Envelope {
  readonly type: 'RequestVoteResponse'
  readonly preVote: boolean
  readonly granted: boolean
  /** The last entry that the voter knows to be committed. */
  readonly committed?: LogBase
}

/** The offer of a snapshot. The receiver's driver pulls the bytes; they never pass through the core. */
export interface InstallSnapshot extends Envelope {
  readonly type: 'InstallSnapshot'
  readonly lastIncluded: LogBase
  readonly configuration: Configuration
}

/** The receiver holds everything up to `index` durably. */
export interface InstallSnapshotResponse extends Envelope {
  readonly type: 'InstallSnapshotResponse'
  readonly index: LogIndex
}

/** A follower asks the leader for a read index on behalf of its own readers. `requestId` is meaningless to the leader. */
export interface ReadIndex extends Envelope {
  readonly type: 'ReadIndex'
  readonly requestId: number
}

/** `index` null: the leader cannot answer now (no own-term commit yet, stepped down): ask again. */
export interface ReadIndexResponse extends Envelope {
  readonly type: 'ReadIndexResponse'
  readonly requestId: number
  readonly index: LogIndex | null
}

export interface TimeoutNow extends Envelope {
  readonly type: 'TimeoutNow'
}

export type Message =
  | AppendEntries
  | AppendEntriesResponse
  | RequestVote
  | RequestVoteResponse
  | InstallSnapshot
  | InstallSnapshotResponse
  | ReadIndex
  | ReadIndexResponse
  | TimeoutNow

// ---------------------------------------------------------------------------------------------
// Inputs of step().

/** The members that an operator wants; the core decides the steps that lead there. */
export interface TargetConfiguration {
  readonly voters: readonly NodeId[]
  readonly learners: readonly NodeId[]
}

/**
 * Only a leader accepts. Answered like a proposal; the index is that of the first entry of the change. The change is complete
 * when a configuration that is not joint is committed at or after it.
 */
export interface ChangeConfiguration {
  readonly type: 'changeConfiguration'
  readonly proposalId: number
  readonly configuration: TargetConfiguration
  /** Compare-and-set: refused unless the latest configuration came with this entry. Null: no condition. */
  readonly expectedIndex: LogIndex | null
}

/** The driver pulled a snapshot, the state machine has switched to it durably. */
export interface SnapshotInstalled {
  readonly type: 'snapshotInstalled'
  readonly base: LogBase
  readonly configuration: Configuration
  readonly configurationIndex: LogIndex
}

/** The driver replaced the state that it had reported as lost; the log keeps its entries after `base`. */
export interface StateReplaced {
  readonly type: 'stateReplaced'
  /** The new state contains everything that was applied before. */
  readonly base: LogBase
  readonly configuration: Configuration
  readonly configurationIndex: LogIndex
}

export type Input =
  /** One heartbeat interval has passed. */
  | { readonly type: 'tick' }
  /** The process was paused for several election time-outs: a leader must confirm its leadership again before it serves anything. */
  | { readonly type: 'tickGap' }
  | { readonly type: 'message'; readonly message: Message }
  /** Only a leader accepts; the answer is `proposalAccepted` or `proposalRefused` with the same id. */
  | { readonly type: 'propose'; readonly proposalId: number; readonly data: Uint8Array }
  | ChangeConfiguration
  /** Everything of the `appendWal` effect with this sequence is durable. Answers come in the order of the sequences. */
  | { readonly type: 'walDone'; readonly sequence: number }
  /** The state machine holds everything up to `index` durably. */
  | { readonly type: 'applied'; readonly index: LogIndex }
  /** Ask for a linearizable read; the answer is `readReady` or `readRefused` with the same id. */
  | { readonly type: 'read'; readonly readId: number }
  | SnapshotInstalled
  /** The pull ordered by `fetchSnapshot` failed; the leader repeats its offer. */
  | { readonly type: 'snapshotFailed' }
  /**
   * The state machine cannot be used, the driver fetches another by itself. Log, term and vote stay valid: this member votes,
   * acknowledges and, if no other member takes over, stays leader. Meanwhile it does not campaign and accepts no offer of a snapshot.
   */
  | { readonly type: 'stateLost' }
  /** The state machine holds an entry that was made after the start of this process and committed without counting this disk. */
  | { readonly type: 'diskProved' }
  | StateReplaced
  /** Forget log entries up to `index`, which must be applied. */
  | { readonly type: 'compact'; readonly index: LogIndex }
  /** Hand leadership over; without a target the most up-to-date voter is chosen. */
  | { readonly type: 'transferLeadership'; readonly target: NodeId | null }
  /** The transport gave up on a message to this peer: probe again instead of streaming. */
  | { readonly type: 'peerUnreachable'; readonly peer: NodeId }
  /** The answer to `readLog`: entries starting at `from` without a gap, at least one; null when the segments no longer hold `from`. */
  | { readonly type: 'logRead'; readonly readId: number; readonly entries: readonly Entry[] | null }

// ---------------------------------------------------------------------------------------------
// Effects of step(), in the order in which the driver must start them.

export interface AppendWal {
  readonly type: 'appendWal'
  /** Rises by one with every appendWal of this process. */
  readonly sequence: number
  /** Present when it changed. */
  readonly hardState: HardState | null
  /** Present after a snapshot install: the log now begins after `base`, every entry that the file held is void. */
  readonly base: LogBase | null
  /** When not empty: entries[0].index may be <= the last index in the file; the file is truncated from there first. */
  readonly entries: readonly Entry[]
}

/** Durable entries of the log that left memory are needed again. The answer is `logRead`; a part of the range is enough. */
export interface ReadLog {
  readonly type: 'readLog'
  readonly readId: number
  readonly from: LogIndex
  /** Inclusive. */
  readonly through: LogIndex
  /** Of data; a larger first entry is read all the same. */
  readonly bytesMax: number
}

export type RefusalReason =
  | 'notLeader'
  | 'leaderNotReady'
  | 'transferring'
  | 'backlogFull'
  | 'tooLarge'
  /** The previous change is not complete. */
  | 'configurationPending'
  /** The configuration has the wanted members already. */
  | 'configurationUnchanged'
  /** No voter, a name twice or empty, or too many members. */
  | 'configurationInvalid'
  /** The latest configuration is not the one that the operator saw. */
  | 'configurationChanged'

export type ImpossibleClaim =
  /** The peer acknowledges entries that were never made. */
  | 'acknowledges_beyond_log'
  /** The peer echoes a read token that was never made. */
  | 'echoes_unknown_token'
  /** The peer sends as leader of a term that has another leader. */
  | 'second_leader'
  /** The peer sends entries that do not follow each other. */
  | 'entries_with_gap'

export type Effect =
  | AppendWal
  | ReadLog
  | { readonly type: 'send'; readonly message: Message }
  /** Committed entries, contiguous, each handed out exactly once per process, in order. */
  | { readonly type: 'apply'; readonly entries: readonly Entry[] }
  | {
      readonly type: 'proposalAccepted'
      readonly proposalId: number
      readonly index: LogIndex
      readonly term: Term
    }
  | { readonly type: 'proposalRefused'; readonly proposalId: number; readonly reason: RefusalReason }
  /** Once the state machine has applied `index`, a read that started before the `read` input may be served. */
  | { readonly type: 'readReady'; readonly readId: number; readonly index: LogIndex }
  /** Retryable: no leader, leader changed, or the leader is not ready. */
  | { readonly type: 'readRefused'; readonly readId: number }
  /** Pull the leader's state machine from `from`; answer with snapshotInstalled or snapshotFailed. */
  | { readonly type: 'fetchSnapshot'; readonly from: NodeId; readonly atLeast: LogBase }
  /** A message of this peer makes an impossible claim and was dropped. */
  | {
      readonly type: 'peerDoubted'
      readonly peer: NodeId
      readonly claim: ImpossibleClaim
      /** Completes "<peer> ...". */
      readonly what: string
    }
  /** At the leader: the peer acknowledged entries up to `acknowledged` and has proved since that it does not hold all of them. */
  | { readonly type: 'peerForgot'; readonly peer: NodeId; readonly acknowledged: LogIndex }
  /** Facts for the log and the metrics. The core itself never logs. */
  | {
      readonly type: 'roleChanged'
      readonly role: Role
      readonly term: Term
      readonly leaderId: NodeId | null
    }

/** Entries of one term, one after another, whose bytes are only in the segments. */
export interface EntrySpan {
  readonly first: LogIndex
  /** Inclusive. */
  readonly last: LogIndex
  readonly term: Term
  /** Of data; an estimate where a part of the span was removed. */
  readonly bytes: number
  /** The configuration entries of the span, with their data. */
  readonly configurations: readonly Entry[]
}

/** The state that the core starts from. */
export interface RaftRestored {
  readonly hardState: HardState
  readonly base: LogBase
  /** Entries after the base that only the segments hold, without a gap; absent: there are none. */
  readonly older?: readonly EntrySpan[]
  /** They follow the last of `older`, or the base, without a gap. */
  readonly entries: readonly Entry[]
  /** Configuration in force at `appliedIndex`; later ones are found in `older` and `entries`. */
  readonly configuration: Configuration
  /** Of the entry that brought it; 0 for the initial configuration of the group. */
  readonly configurationIndex: LogIndex
  /** Absent: proved. */
  readonly trust?: DiskTrust
  /** Durable in the state machine; base.index <= appliedIndex <= last index. */
  readonly appliedIndex: LogIndex
}

export interface RaftOptions {
  readonly nodeId: NodeId
  /** Election time-out is drawn from [electionTicks, 2 * electionTicks). At least 10 heartbeats. */
  readonly electionTicks: number
  /** Ticks between two heartbeats to a peer for which nothing is open; default 1. An election time-out spans at least three such heartbeats. */
  readonly idleHeartbeatTicks?: number
  /** Seeded by the caller; returns an unsigned 32-bit integer. The only randomness in the core. */
  readonly random: () => number
  readonly limits: RaftLimits
}

export interface RaftLimits {
  /** Largest data of one entry. Bytes. */
  readonly entryBytesMax: number
  /** Sum of entry data in one AppendEntries. Bytes. */
  readonly messageBytesMax: number
  /** AppendEntries under way to one peer. Count and bytes. */
  readonly inflightMessagesMax: number
  readonly inflightBytesMax: number
  /** Data of entries not yet committed; more is refused with `backlogFull`. Bytes. */
  readonly uncommittedBytesMax: number
  /** Newest entries kept in memory; older durable entries are read back from the segments. Bytes of data and count. */
  readonly windowBytesMax: number
  readonly windowEntriesMax: number
}

/** What the node may show of the core; a copy, never live state. */
export interface RaftStatus {
  readonly nodeId: NodeId
  readonly role: Role
  readonly term: Term
  readonly leaderId: NodeId | null
  readonly commitIndex: LogIndex
  readonly appliedIndex: LogIndex
  readonly lastIndex: LogIndex
  readonly base: LogBase
  /** The part of the log that is in memory. Count and bytes of data. */
  readonly window: { readonly entries: number; readonly bytes: number }
  /** Entries that were read back from the segments and wait to be used. Bytes of data. */
  readonly readBackBytes: number
  readonly trust: DiskTrust
  /** Members, this one included, whose disk is not proved current as far as this member knows. */
  readonly suspects: readonly { readonly nodeId: NodeId; readonly doubt: DiskDoubt }[]
  readonly configuration: Configuration
  readonly configurationIndex: LogIndex
  /** At the leader: one row per peer. Elsewhere empty. */
  readonly peers: readonly {
    readonly nodeId: NodeId
    readonly matchIndex: LogIndex
    readonly state: 'probe' | 'replicate' | 'snapshot'
    /** The peer does not hold all that it has acknowledged: its disk has lost something. */
    readonly hasForgotten: boolean
    /** What the peer reported last about its disk; null: it is proved current. */
    readonly doubt: DiskDoubt | null
    /** Ticks since the last message from it. */
    readonly silentTicks: number
    /** While the peer needs a snapshot: the index of the first one offered, after which it needs the log. */
    readonly offeredIndex: LogIndex | null
    /** The part of this log that the peer has not acknowledged: entries, and data bytes of those still held (an estimate beyond the window). */
    readonly lagEntries: number
    readonly lagBytes: number
  }[]
}
