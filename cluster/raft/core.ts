/**
 * The state of one Raft member, and the functions that emit effects and messages from it.
 *
 * Owns: the fields that every role shares. Knows nothing of: which message changes them; the role files do.
 * Rule: terms only rise, a vote is set once per term, the commit index only rises. They change through the functions
 * here, which check it.
 */
import { assert } from './assert.ts'
import { ConfigurationHistory } from './configuration.ts'
import { Durability } from './durability.ts'
import type { Needs } from './durability.ts'
import { FollowerReads } from './follower-reads.ts'
import type { Progress } from './progress.ts'
import { type LogReader, LogReads, type Wanted } from './log-reads.ts'
import { RaftLog } from './raft-log.ts'
import type { ReadRounds } from './read-rounds.ts'
import type {
  DiskDoubt,
  DiskTrust,
  Effect,
  Entry,
  HardState,
  LogBase,
  LogIndex,
  Message,
  NodeId,
  RaftOptions,
  RaftRestored,
  Role,
  Term,
} from './types.ts'

/** Exists while this member leads and is dropped with its leadership: nothing of it can leak into another term. */
export interface Leadership {
  /** All nodes that are sent the log: the members, and removed members until they know of their removal. */
  readonly peers: Map<NodeId, Progress>
  /** The entry that opened this term; until it is committed no read is answered [thesis 6.4]. */
  readonly noopIndex: LogIndex
  readonly reads: ReadRounds
  transfer: { readonly target: NodeId; ticks: number } | null
}

/** An answer to this campaign. */
interface Vote {
  readonly granted: boolean
  readonly doubt: DiskDoubt | null
}

export interface Core {
  readonly nodeId: NodeId
  readonly options: RaftOptions
  readonly log: RaftLog
  /** Reads of entries that left memory, from the segments. */
  readonly logReads: LogReads
  readonly durability: Durability
  readonly configurations: ConfigurationHistory
  readonly followerReads: FollowerReads
  /** Gathered during one step. */
  effects: Effect[]
  term: Term
  votedFor: NodeId | null
  role: Role
  leaderId: NodeId | null
  commitIndex: LogIndex
  /** Handed out as `apply`: appliedIndex <= handedIndex <= commitIndex. */
  handedIndex: LogIndex
  appliedIndex: LogIndex
  /** Ticks since this member received a message of a leader, granted a vote or started to campaign. */
  electionElapsed: number
  electionTimeout: number
  /** The connection to the leader broke, and no message of the leader has arrived since. */
  isLeaderSuspect: boolean
  votes: Map<NodeId, Vote>
  leadership: Leadership | null
  /** The snapshot that the driver is pulling. Meanwhile nothing is handed out: the state machine is about to be replaced. */
  fetching: LogBase | null
  /** The driver replaces the state machine by itself; only the log holds what this member promised. */
  isStateLost: boolean
  /** Rises to `proved` and never falls: everything that this process promises stays on its disk. */
  trust: DiskTrust
  /** The disk of a member was in doubt: voters of every configuration since the commit index may be needed. */
  asksWidely: boolean
}

export function createCore(options: RaftOptions, restored: RaftRestored): Core {
  const { appliedIndex, older = [] } = restored
  const log = new RaftLog(restored.base, restored.entries, older)
  assert(
    restored.base.index <= appliedIndex && appliedIndex <= log.lastIndex,
    'the applied index lies in the log',
  )
  assert(restored.base.index > 0 || restored.base.term === 0, 'a log from the start has no term before it')
  assert(log.lastTerm <= restored.hardState.currentTerm, 'no entry has a term beyond the current one')
  assert(restored.configurationIndex <= appliedIndex, 'the restored configuration is applied')
  assert(options.electionTicks >= 2, 'an election time-out spans several heartbeats')
  const { idleHeartbeatTicks = 1 } = options
  const isHeartbeatOften = idleHeartbeatTicks === 1 || 3 * idleHeartbeatTicks <= options.electionTicks
  assert(isHeartbeatOften, 'an election time-out spans at least three idle heartbeats')
  const configurations = new ConfigurationHistory(restored.configurationIndex, restored.configuration)
  const logged = [...older.flatMap((span) => span.configurations), ...restored.entries]
  configurations.appended(logged.filter((entry) => entry.index > appliedIndex))
  const core: Core = {
    nodeId: options.nodeId,
    options,
    log,
    logReads: new LogReads(),
    configurations,
    durability: new Durability(restored.hardState, log.lastIndex),
    followerReads: new FollowerReads(firstRequestId(options)),
    effects: [],
    term: restored.hardState.currentTerm,
    votedFor: restored.hardState.votedFor,
    role: 'follower',
    leaderId: null,
    commitIndex: appliedIndex,
    handedIndex: appliedIndex,
    appliedIndex,
    electionElapsed: 0,
    electionTimeout: 0,
    isLeaderSuspect: false,
    votes: new Map(),
    leadership: null,
    fetching: null,
    isStateLost: false,
    trust: restored.trust ?? 'proved',
    asksWidely: (restored.trust ?? 'proved') !== 'proved',
  }
  resetElectionTimer(core)
  shrinkWindow(core)
  return core
}

/**
 * A restarted process must not mistake an answer to its predecessor's question for its own: the index in that answer may be
 * older than its read. So request ids start at a random multiple of 2^20: two processes overlap only after 2^20 questions.
 */
function firstRequestId(options: RaftOptions): number {
  return options.random() * 2 ** 20
}

export function resetElectionTimer(core: Core): void {
  const { electionTicks, random } = core.options
  core.electionElapsed = 0
  core.electionTimeout = electionTicks + (random() % electionTicks)
}

/**
 * How long a candidate waits for votes, and how long a beaten candidate waits before it tries again. There is no leader that a
 * longer time-out would protect: the range starts half an election time-out earlier than that of a follower, and is as wide, so
 * that split votes stay rare.
 */
export function resetCampaignTimer(core: Core): void {
  const { electionTicks, random } = core.options
  core.electionElapsed = 0
  core.electionTimeout = Math.ceil(electionTicks / 2) + (random() % electionTicks)
}

export function hardStateOf(core: Core): HardState {
  return { currentTerm: core.term, votedFor: core.votedFor }
}

export function raiseTerm(core: Core, term: Term): void {
  assert(term > core.term, `term falls from ${core.term} to ${term}`)
  core.term = term
  core.votedFor = null
}

export function voteFor(core: Core, candidate: NodeId): void {
  assert(core.votedFor === null || core.votedFor === candidate, `second vote in term ${core.term}`)
  core.votedFor = candidate
}

export function commitTo(core: Core, index: LogIndex): void {
  assert(index >= core.commitIndex, `commit index falls from ${core.commitIndex} to ${index}`)
  assert(index <= core.log.lastIndex, `commit index ${index} is beyond the log end ${core.log.lastIndex}`)
  core.commitIndex = index
}

/** The next entries for a reader, from memory or from a finished read of the segments; null when they must be read first. */
export function entriesFor(core: Core, reader: LogReader, wanted: Wanted): readonly Entry[] | null {
  const { entries, read } = core.logReads.take(core.log, reader, wanted)
  if (read !== null) core.effects.push(read)
  return entries
}

/** Drops entries from memory that the segments hold. */
export function shrinkWindow(core: Core): void {
  const { windowBytesMax: bytesMax, windowEntriesMax: countMax } = core.options.limits
  core.log.shrinkWindow({ bytesMax, countMax }, core.durability.durableIndex)
}

/** A leader only appends to its log [thesis 3.4]; a configuration is in force as soon as it is appended [thesis 4.1]. */
export function appendOwn(core: Core, entry: Entry): void {
  assert(core.role === 'leader' && entry.term === core.term, 'a leader appends entries of its term')
  core.log.append([entry])
  core.configurations.appended([entry])
  core.durability.appended(entry.index)
}

/** States the trust at the time when the message is made: a promise that a suspect made is sent as a suspect's, however long it waits. */
export function envelope(
  { nodeId, term, trust }: Core,
  to: NodeId,
): { readonly from: NodeId; readonly to: NodeId; readonly term: Term; readonly doubt?: DiskDoubt } {
  const header = { from: nodeId, to, term }
  return trust === 'proved' ? header : { ...header, doubt: trust }
}

export function ownDoubt({ trust }: Core): DiskDoubt | null {
  return trust === 'proved' ? null : trust
}

export function emit(core: Core, effect: Effect): void {
  core.effects.push(effect)
}

/** For messages that promise nothing about this member's disk. */
export function send(core: Core, message: Message): void {
  core.effects.push({ type: 'send', message })
}

/** For messages that are true only once the disk has confirmed a write. */
export function promise(core: Core, message: Message, needs: Needs): void {
  core.durability.promise(message, needs)
}
