/**
 * The state of one Raft member and the few ways to speak from it.
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

/** Exists while this member leads and dies with its leadership: nothing of it can leak into another term. */
export interface Leadership {
  /** Everybody that is sent the log: the members, and those just removed until they know it. */
  readonly peers: Map<NodeId, Progress>
  /** The entry that opened this term; until it is committed nobody reads [thesis 6.4]. */
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
  /** What comes back from the segments. */
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
  /** Ticks since this member heard a leader, granted a vote or began to campaign. */
  electionElapsed: number
  electionTimeout: number
  /** The connection to the leader broke, and nothing has been heard of it since. */
  isLeaderSuspect: boolean
  votes: Map<NodeId, Vote>
  leadership: Leadership | null
  /** The snapshot that the driver is pulling. Meanwhile nothing is handed out: the state machine is about to be replaced. */
  fetching: LogBase | null
  /** The driver replaces the state machine by itself; what this member promised stands in its log alone. */
  isStateLost: boolean
  /** Rises to `proved` and never falls: what this process promises stays on its disk. */
  trust: DiskTrust
  /** Somebody's disk was in doubt: voters of every configuration since the commit index may be needed. */
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
  assert(log.lastTerm <= restored.hardState.currentTerm, 'no entry is of a term that never was')
  assert(restored.configurationIndex <= appliedIndex, 'the restored configuration is an applied one')
  assert(options.electionTicks >= 2, 'an election time-out is several heartbeats')
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
 * A restarted process must not take the answer to its predecessor's question for its own: that index may be older than
 * its read. Hence a random start, with room for 2^20 questions before two starts could touch.
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
 * How long a candidate waits for its votes, and who was beaten before it tries again: nobody leads, so nobody is protected by
 * a longer timeout. Half an election time sooner than a follower, and drawn from as wide a range, so that split votes stay rare.
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

/** The next entries for a reader, from memory or as they came back from the segments; null when they have to be read first. */
export function entriesFor(core: Core, reader: LogReader, wanted: Wanted): readonly Entry[] | null {
  const { entries, read } = core.logReads.take(core.log, reader, wanted)
  if (read !== null) core.effects.push(read)
  return entries
}

/** What the segments hold leaves memory. */
export function shrinkWindow(core: Core): void {
  const { windowBytesMax: bytesMax, windowEntriesMax: countMax } = core.options.limits
  core.log.shrinkWindow({ bytesMax, countMax }, core.durability.durableIndex)
}

/** A leader only ever appends to its log [thesis 3.4]; a configuration is in force from here on [thesis 4.1]. */
export function appendOwn(core: Core, entry: Entry): void {
  assert(core.role === 'leader' && entry.term === core.term, 'a leader appends entries of its term')
  core.log.append([entry])
  core.configurations.appended([entry])
  core.durability.appended(entry.index)
}

/** Says what is true when the message is made: a promise of a suspect that waits for its disk leaves as one of a suspect. */
export function envelope(
  { nodeId, term, trust }: Core,
  to: NodeId,
): { readonly from: NodeId; readonly to: NodeId; readonly term: Term; readonly doubt?: DiskDoubt } {
  const told = { from: nodeId, to, term }
  return trust === 'proved' ? told : { ...told, doubt: trust }
}

export function ownDoubt({ trust }: Core): DiskDoubt | null {
  return trust === 'proved' ? null : trust
}

export function emit(core: Core, effect: Effect): void {
  core.effects.push(effect)
}

/** For messages that promise nothing of this member's disk. */
export function send(core: Core, message: Message): void {
  core.effects.push({ type: 'send', message })
}

/** For messages that are true only once the disk says so. */
export function promise(core: Core, message: Message, needs: Needs): void {
  core.durability.promise(message, needs)
}
