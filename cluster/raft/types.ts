/**
 * The vocabulary of the Raft core: what goes in, what comes out, what a message looks like.
 *
 * Owns: the plain-data types that the driver, the WAL and the transport share with the core.
 * Knows nothing of: clocks, sockets, files, tenants. Everything here is data, so that a whole
 * execution can be written down, replayed and compared.
 */

/** A flavour keeps two numbers apart (a Term is no LogIndex) and still lets plain arithmetic through. */
export type NodeId = string & { readonly flavour?: 'NodeId' }
export type Term = number & { readonly flavour?: 'Term' }
export type LogIndex = number & { readonly flavour?: 'LogIndex' }

/** What must be durable before any promise made in its name leaves the node. [thesis fig. 3.1] */
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

/** Who votes and who only listens. `outgoing` is the old half while a joint change is under way [thesis 4.3]. */
export interface Configuration {
  readonly voters: readonly NodeId[]
  readonly learners: readonly NodeId[]
  readonly outgoing: readonly NodeId[]
}

/** Where the log begins: everything up to and including `index` lives in the state machine alone. */
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
}

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
  /** On failure: where the follower suggests to look next, and the term of its entry there. */
  readonly hintIndex: LogIndex
  readonly hintTerm: Term
  /** Echo of `AppendEntries.readToken`: says "I heard you as leader of this term after you made this token". */
  readonly readToken: number
}

/** `preVote` asks without raising a term [thesis 9.6]; `transfer` marks an election ordered by the leader [thesis 3.10]. */
export interface RequestVote extends Envelope {
  readonly type: 'RequestVote'
  readonly preVote: boolean
  readonly transfer: boolean
  readonly lastLogIndex: LogIndex
  readonly lastLogTerm: Term
}

export interface RequestVoteResponse extends Envelope {
  readonly type: 'RequestVoteResponse'
  readonly preVote: boolean
  readonly granted: boolean
}

/** The offer of a snapshot. The bytes are pulled by the receiver's driver, they never pass the core. */
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

/** What an operator wants the group to be; the core decides which way leads there. */
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
  /** Compare-and-set: refused unless the latest configuration came with this entry. Null: whatever it is. */
  readonly expectedIndex: LogIndex | null
}

/** The driver pulled a snapshot, the state machine has switched to it durably. */
export interface SnapshotInstalled {
  readonly type: 'snapshotInstalled'
  readonly base: LogBase
  readonly configuration: Configuration
  readonly configurationIndex: LogIndex
}

/** The driver replaced the state that it had said to be lost; what the log holds after `base` stays. */
export interface StateReplaced {
  readonly type: 'stateReplaced'
  /** Nothing that was applied before is missing from it. */
  readonly base: LogBase
  readonly configuration: Configuration
  readonly configurationIndex: LogIndex
}

export type Input =
  /** One heartbeat interval has passed. */
  | { readonly type: 'tick' }
  /** The process slept through several election time-outs: a leader must re-confirm itself before it serves anything. */
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
  /** The pull ordered by `fetchSnapshot` failed; the leader will offer again. */
  | { readonly type: 'snapshotFailed' }
  /**
   * The state machine cannot be used, the driver fetches another by itself. Log, term and vote are as good as ever: this member
   * votes, acknowledges and, if nobody takes over, leads on. It does not ask for the lead and is offered no snapshot meanwhile.
   */
  | { readonly type: 'stateLost' }
  | StateReplaced
  /** Forget log entries up to `index`, which must be applied. */
  | { readonly type: 'compact'; readonly index: LogIndex }
  /** Hand leadership over; without a target the most up-to-date voter is chosen. */
  | { readonly type: 'transferLeadership'; readonly target: NodeId | null }
  /** The transport gave up on a message to this peer: probe again instead of streaming. */
  | { readonly type: 'peerUnreachable'; readonly peer: NodeId }

// ---------------------------------------------------------------------------------------------
// Effects of step(), in the order in which the driver must begin them.

export interface AppendWal {
  readonly type: 'appendWal'
  /** Rises by one with every appendWal of this process. */
  readonly sequence: number
  /** Present when it changed. */
  readonly hardState: HardState | null
  /** Present after a snapshot install: the log now begins after `base`, everything before and after it in the file is void. */
  readonly base: LogBase | null
  /** When not empty: entries[0].index may be <= the last index in the file; the file is truncated from there first. */
  readonly entries: readonly Entry[]
}

export type RefusalReason =
  | 'notLeader'
  | 'leaderNotReady'
  | 'transferring'
  | 'backlogFull'
  | 'tooLarge'
  /** The change before it is not complete. */
  | 'configurationPending'
  /** It is what the operator wants already. */
  | 'configurationUnchanged'
  /** No voter, a name twice or empty, or too many members. */
  | 'configurationInvalid'
  /** Not the one that the operator saw. */
  | 'configurationChanged'

export type Effect =
  | AppendWal
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
  /** Once the state machine has applied `index`, a read begun before the `read` input may be served. */
  | { readonly type: 'readReady'; readonly readId: number; readonly index: LogIndex }
  /** Retryable: no leader, leader changed, or the leader is not ready. */
  | { readonly type: 'readRefused'; readonly readId: number }
  /** Pull the leader's state machine from `from`; answer with snapshotInstalled or snapshotFailed. */
  | { readonly type: 'fetchSnapshot'; readonly from: NodeId; readonly atLeast: LogBase }
  /** Facts for the log and the metrics. The core itself never logs. */
  | {
      readonly type: 'roleChanged'
      readonly role: Role
      readonly term: Term
      readonly leaderId: NodeId | null
    }

/** What the core starts from. `entries` follow `base` without a gap. */
export interface RaftRestored {
  readonly hardState: HardState
  readonly base: LogBase
  readonly entries: readonly Entry[]
  /** Configuration in force at `appliedIndex`; later ones are found in `entries`. */
  readonly configuration: Configuration
  /** Of the entry that brought it; 0 when it is the one that the group began with. */
  readonly configurationIndex: LogIndex
  /** Durable in the state machine; base.index <= appliedIndex <= last index. */
  readonly appliedIndex: LogIndex
}

export interface RaftOptions {
  readonly nodeId: NodeId
  /** Election time-out is drawn from [electionTicks, 2 * electionTicks). At least 10 heartbeats. */
  readonly electionTicks: number
  /** Seeded outside; returns an unsigned 32-bit integer. The only randomness in the core. */
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
  readonly configuration: Configuration
  readonly configurationIndex: LogIndex
  /** At the leader: one row per peer. Elsewhere empty. */
  readonly peers: readonly {
    readonly nodeId: NodeId
    readonly matchIndex: LogIndex
    readonly state: 'probe' | 'replicate' | 'snapshot'
    /** Ticks since the last message from it. */
    readonly silentTicks: number
    /** What it has not acknowledged of this log: entries, and data bytes of those that are still held. */
    readonly lagEntries: number
    readonly lagBytes: number
  }[]
}
