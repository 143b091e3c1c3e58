/**
 * The Raft member: one input in, its effects out.
 *
 * Owns: the dispatch and the end of every step, where sends, reads, applies and the disk write are gathered.
 * Knows nothing of: clocks, sockets, files. Reading order from here: election.ts, leader.ts, replication.ts,
 * follower.ts, durability.ts.
 * Rule: step() is synchronous and deterministic; the same options, restored state and inputs give the same effects.
 */
import { applied, handOutCommitted } from './apply.ts'
import { assert } from './assert.ts'
import { createCore, hardStateOf, shrinkWindow } from './core.ts'
import type { Core } from './core.ts'
import {
  countOwnVote,
  handleRequestVote,
  handleRequestVoteResponse,
  handleTimeoutNow,
  learnCommit,
  leaderUnreachable,
  tickElection,
} from './election.ts'
import { handleAppendEntries } from './follower.ts'
import {
  advanceCommit,
  diskProved,
  handleAppendEntriesResponse,
  handleInstallSnapshotResponse,
  leaderWokeUp,
  propose,
  tickLeader,
} from './leader.ts'
import {
  advanceReads,
  askForWaitingReads,
  handleReadIndex,
  handleReadIndexResponse,
  read,
  tickFollowerReads,
} from './read-index.ts'
import { advanceConfiguration, changeConfiguration } from './configuration-changes.ts'
import { replicate } from './replication.ts'
import {
  compact,
  handleInstallSnapshot,
  snapshotFailed,
  snapshotInstalled,
  stateLost,
  stateReplaced,
} from './snapshot.ts'
import { statusOf } from './status.ts'
import { admit } from './terms.ts'
import { transferLeadership } from './transfer.ts'
import type {
  Configuration,
  Effect,
  Entry,
  Input,
  LogIndex,
  Message,
  NodeId,
  RaftOptions,
  RaftRestored,
  RaftStatus,
  Role,
  Term,
} from './types.ts'

export class Raft {
  readonly #core: Core
  #reportedRole: { readonly role: Role; readonly term: Term; readonly leaderId: NodeId | null }

  constructor(options: RaftOptions, restored: RaftRestored) {
    this.#core = createCore(options, restored)
    this.#reportedRole = this.#role()
  }

  step(input: Input): Effect[] {
    this.#core.effects = []
    dispatch(this.#core, input)
    return this.#finish()
  }

  status(): RaftStatus {
    return statusOf(this.#core)
  }

  /** The one in force, which is never changed: another one takes its place. */
  get configuration(): Configuration {
    return this.#core.configurations.current
  }

  /** Ticks since this leader last received a message of the peer. Null: this member does not lead, or sends nothing to it. */
  silentTicksOf(peer: NodeId): number | null {
    return this.#core.leadership?.peers.get(peer)?.silentTicks ?? null
  }

  /** The entry that memory holds at `index`, committed or not. Null: there is none, or only the segments hold it. */
  entry(index: LogIndex): Entry | null {
    const { log } = this.#core
    return log.holdsInMemory(index) ? (log.slice(index, index)[0] ?? null) : null
  }

  /** Null: the log has no entry there, or no longer has it. */
  termAt(index: LogIndex): Term | null {
    return this.#core.log.termAt(index)
  }

  get commitIndex(): LogIndex {
    return this.#core.commitIndex
  }

  /** How far a state that ends at `applied` is behind the commit index. Count and bytes of data, an estimate beyond the window. */
  unapplied(applied: LogIndex): { readonly entries: number; readonly bytes: number } {
    const { log, commitIndex } = this.#core
    const after = Math.min(applied, commitIndex)
    return { entries: commitIndex - after, bytes: log.bytesBetween(after, commitIndex) }
  }

  /** The write comes first: messages of the same step travel in parallel with it [thesis 10.2.1]. */
  #finish(): Effect[] {
    const core = this.#core
    advanceConfiguration(core)
    if (core.leadership === null) askForWaitingReads(core)
    else replicate(core, advanceReads(core, core.leadership))
    handOutCommitted(core)
    const { write, ready } = core.durability.flush(hardStateOf(core), core.log)
    shrinkWindow(core)
    const effects: Effect[] = write === null ? [] : [write]
    effects.push(...this.#roleChange(), ...core.effects)
    for (const message of ready) effects.push({ type: 'send', message })
    return effects
  }

  #roleChange(): Effect[] {
    const now = this.#role()
    const { role, term, leaderId } = this.#reportedRole
    if (now.role === role && now.term === term && now.leaderId === leaderId) return []
    this.#reportedRole = now
    return [{ type: 'roleChanged', ...now }]
  }

  #role(): { readonly role: Role; readonly term: Term; readonly leaderId: NodeId | null } {
    const { role, term, leaderId } = this.#core
    return { role, term, leaderId }
  }
}

function dispatch(core: Core, input: Input): void {
  switch (input.type) {
    case 'tick':
      return tick(core)
    case 'tickGap':
      return core.role === 'leader' ? leaderWokeUp(core) : undefined
    case 'message':
      return receive(core, input.message)
    case 'propose':
      return propose(core, input.proposalId, input.data)
    case 'changeConfiguration':
      return changeConfiguration(core, input)
    case 'walDone':
      return walDone(core, input.sequence)
    case 'applied':
      return applied(core, input.index)
    case 'read':
      return read(core, input.readId)
    case 'snapshotInstalled':
      return snapshotInstalled(core, input)
    case 'snapshotFailed':
      return snapshotFailed(core)
    case 'stateLost':
      return stateLost(core)
    case 'diskProved':
      return diskProved(core)
    case 'stateReplaced':
      return stateReplaced(core, input)
    case 'compact':
      return compact(core, input.index)
    case 'transferLeadership':
      return transferLeadership(core, input.target)
    case 'peerUnreachable':
      return peerUnreachable(core, input.peer)
    case 'logRead':
      return core.logReads.finished(input.readId, input.entries)
  }
}

function receive(core: Core, message: Message): void {
  assert(message.to === core.nodeId, `a message for ${message.to} came to ${core.nodeId}`)
  assert(message.from !== core.nodeId, 'a member sends nothing to itself')
  if (message.type === 'RequestVoteResponse') learnCommit(core, message)
  if (!admit(core, message)) return
  switch (message.type) {
    case 'AppendEntries':
      return handleAppendEntries(core, message)
    case 'RequestVote':
      return handleRequestVote(core, message)
    case 'RequestVoteResponse':
      return handleRequestVoteResponse(core, message)
    case 'InstallSnapshot':
      return handleInstallSnapshot(core, message)
    case 'ReadIndex':
      return handleReadIndex(core, message)
    case 'ReadIndexResponse':
      return handleReadIndexResponse(core, message)
    case 'TimeoutNow':
      return handleTimeoutNow(core, message)
    case 'AppendEntriesResponse':
      return core.leadership === null ? undefined : handleAppendEntriesResponse(core, message)
    case 'InstallSnapshotResponse':
      return core.leadership === null ? undefined : handleInstallSnapshotResponse(core, message)
  }
}

function tick(core: Core): void {
  core.logReads.tick()
  if (core.role === 'leader') return tickLeader(core)
  tickFollowerReads(core)
  tickElection(core)
}

function walDone(core: Core, sequence: number): void {
  for (const message of core.durability.done(sequence, core.term))
    core.effects.push({ type: 'send', message })
  countOwnVote(core)
  if (core.role === 'leader') advanceCommit(core)
}

/** Any message under way to the peer may be lost: probe for its last index instead of continuing the stream. */
function peerUnreachable(core: Core, nodeId: NodeId): void {
  leaderUnreachable(core, nodeId)
  const peer = core.leadership?.peers.get(nodeId)
  if (peer?.state === 'replicate') peer.becomeProbe(peer.matchIndex + 1)
}
