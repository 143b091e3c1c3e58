/**
 * Asking for votes and giving them [thesis 3.4, 9.6].
 *
 * Owns: campaigns, tallies, the one vote per term. Knows nothing of: what a leader does afterwards.
 * Rule: a vote leaves after it is durable, the own vote counts after it is durable, and no candidate asks for votes with
 * a log or a term that a crash could still take back: a restarted candidate would collect old votes for a shorter log.
 */
import { hasAgreement, votersNeeded } from './agreement.ts'
import { isVoter } from './configuration.ts'
import {
  commitTo,
  envelope,
  hardStateOf,
  ownDoubt,
  promise,
  raiseTerm,
  resetCampaignTimer,
  resetElectionTimer,
  send,
  voteFor,
} from './core.ts'
import type { Core } from './core.ts'
import { becomeLeader } from './leader.ts'
import { becomeFollower, setLeader } from './role.ts'
import type { NodeId, RequestVote, RequestVoteResponse, TimeoutNow } from './types.ts'

/** Ticks since the last message of a leader after which it is given up when the connection to it broke. */
const SUSPECT_TICKS = 2

/** A tick of any role but leader. */
export function tickElection(core: Core): void {
  core.electionElapsed += 1
  if (core.isLeaderSuspect && core.electionElapsed >= SUSPECT_TICKS) giveUpLeader(core)
  if (core.electionElapsed < core.electionTimeout) return
  if (mayCampaign(core)) becomePreCandidate(core)
  else becomeFollower(core, core.term, null)
}

/** True while a message of the leader has arrived within the shortest time-out: then requests for votes are ignored [thesis 4.2.3]. */
export function hasActiveLeader(core: Core): boolean {
  if (core.role === 'leader') return true
  return core.leaderId !== null && core.electionElapsed < core.options.electionTicks
}

export function handleRequestVote(core: Core, message: RequestVote): void {
  if (message.preVote) answerPreVote(core, message)
  else answerVote(core, message)
}

export function handleRequestVoteResponse(core: Core, message: RequestVoteResponse): void {
  if (core.role !== (message.preVote ? 'preCandidate' : 'candidate')) return
  // A granted pre-vote carries the term that was asked for; a grant for an older campaign says nothing about this one.
  if (message.preVote && message.granted && message.term !== core.term + 1) return
  const { from, granted, doubt = null } = message
  if (doubt !== null) core.asksWidely = true
  if (!core.votes.has(from)) core.votes.set(from, { granted, doubt })
  tally(core)
}

/**
 * A committed entry is committed in every term, regardless of the member that reports it. A candidate that asks the voters of every
 * configuration since its commit index could otherwise wait forever for a voter that the newest, committed configuration has made a learner.
 */
export function learnCommit(core: Core, { committed }: RequestVoteResponse): void {
  if (committed === undefined || core.role === 'leader' || committed.index <= core.commitIndex) return
  if (core.log.matches(committed.index, committed.term)) commitTo(core, committed.index)
}

/** The leader orders an election: there is no pre-vote, and voters do not protect the leader that hands over [thesis 3.10]. */
export function handleTimeoutNow(core: Core, message: TimeoutNow): void {
  if (core.leaderId !== message.from || core.role !== 'follower' || !mayCampaign(core)) return
  becomeCandidate(core, true)
}

/** Called when the disk confirmed a write: the own vote may have become durable. */
export function countOwnVote(core: Core): void {
  if (
    core.role !== 'candidate' ||
    core.votes.has(core.nodeId) ||
    !core.durability.isDurable(hardStateOf(core))
  )
    return
  core.votes.set(core.nodeId, ownVote(core))
  tally(core)
}

function ownVote(core: Core) {
  return { granted: true, doubt: ownDoubt(core) }
}

/**
 * A voter outside of its latest configuration still campaigns while that configuration is not committed: it may hold the only
 * log that can win. Its own vote does not count then [thesis 4.2.2]. A node whose state machine is about to be replaced cannot
 * lead; its vote for another candidate stays valid.
 */
function mayCampaign(core: Core): boolean {
  const { configurations, nodeId, fetching, isStateLost } = core
  if (fetching !== null || isStateLost) return false
  return configurations.since(core.commitIndex).some((one) => isVoter(one, nodeId))
}

function becomePreCandidate(core: Core): void {
  beginCampaign(core, 'preCandidate')
  core.votes.set(core.nodeId, ownVote(core))
  for (const to of otherVoters(core)) {
    send(core, { ...voteRequest(core, to), term: core.term + 1, preVote: true, transfer: false })
  }
  tally(core)
}

function becomeCandidate(core: Core, transfer: boolean): void {
  raiseTerm(core, core.term + 1)
  voteFor(core, core.nodeId)
  beginCampaign(core, 'candidate')
  for (const to of otherVoters(core)) {
    promise(core, { ...voteRequest(core, to), preVote: false, transfer }, 'log')
  }
}

function beginCampaign(core: Core, role: 'preCandidate' | 'candidate'): void {
  core.role = role
  core.votes = new Map()
  setLeader(core, null)
  resetCampaignTimer(core)
}

/** The connection to a peer broke. A broken connection to the leader proves little; with missed heartbeats it is reason to campaign. */
export function leaderUnreachable(core: Core, peer: NodeId): void {
  if (core.leaderId === peer) core.isLeaderSuspect = true
}

/** As if the shortest time-out had passed: a member that still receives from the leader protects it by refusing the pre-vote. */
function giveUpLeader(core: Core): void {
  const { electionTicks, random } = core.options
  core.isLeaderSuspect = false
  core.electionElapsed = Math.max(core.electionElapsed, electionTicks)
  core.electionTimeout = Math.min(
    core.electionTimeout,
    electionTicks + (random() % Math.ceil(electionTicks / 2)),
  )
}

/** Only votes of the configuration in force count, in both halves while it is joint; with suspects one more vote is needed. */
function tally(core: Core): void {
  const isRolledBack = (nodeId: NodeId): boolean => core.votes.get(nodeId)?.doubt === 'rolledBack'
  const isProved = (nodeId: NodeId): boolean => (core.votes.get(nodeId)?.doubt ?? null) === null
  const agreement = (agrees: (nodeId: NodeId) => boolean): boolean => {
    const proved = (nodeId: NodeId): boolean => agrees(nodeId) && isProved(nodeId)
    return hasAgreement(core, { agreed: agrees, proved, isRolledBack })
  }
  const isWon = agreement((nodeId) => core.votes.get(nodeId)?.granted === true)
  const isLost = !agreement((nodeId) => core.votes.get(nodeId)?.granted !== false)
  if (isLost) becomeFollower(core, core.term, null)
  else if (isWon && core.role === 'preCandidate') becomeCandidate(core, false)
  else if (isWon) becomeLeader(core)
}

/** Changes neither term nor vote nor timer, so it may be answered any number of times. */
function answerPreVote(core: Core, message: RequestVote): void {
  const isGranted = message.term > core.term && core.log.isUpToDate(message.lastLogIndex, message.lastLogTerm)
  if (isGranted) {
    send(core, { ...voteResponse(core, message), term: message.term, granted: true })
  } else {
    promise(core, { ...voteResponse(core, message), granted: false }, 'hardState')
    if (core.role === 'follower' && !hasActiveLeader(core)) campaignSoon(core)
  }
}

/** Another member has noticed that there is no leader, and cannot win against this log: do not wait for the own time-out. */
function campaignSoon(core: Core): void {
  core.electionTimeout = Math.min(core.electionTimeout, core.electionElapsed + 1)
}

/** Granted whether or not the candidate, or this node, is a voter in this node's view: its log may lag [thesis 4.2.2]. */
function answerVote(core: Core, message: RequestVote): void {
  const isFree = core.votedFor === message.from || (core.votedFor === null && core.leaderId === null)
  const granted =
    isFree && message.term === core.term && core.log.isUpToDate(message.lastLogIndex, message.lastLogTerm)
  if (granted) {
    voteFor(core, message.from)
    resetElectionTimer(core)
  }
  promise(core, { ...voteResponse(core, message), granted }, 'hardState')
}

function voteRequest(core: Core, to: NodeId) {
  const { lastIndex, lastTerm } = core.log
  return {
    type: 'RequestVote',
    ...envelope(core, to),
    lastLogIndex: lastIndex,
    lastLogTerm: lastTerm,
    ...(core.asksWidely ? ({ asksCommit: true } as const) : {}),
  } as const
}

function voteResponse(core: Core, message: RequestVote) {
  const { commitIndex: index, log } = core
  const commit = message.asksCommit === true ? { committed: { index, term: log.knownTermAt(index) } } : {}
  return {
    type: 'RequestVoteResponse',
    ...envelope(core, message.from),
    preVote: message.preVote,
    ...commit,
  } as const
}

function otherVoters(core: Core): readonly NodeId[] {
  return votersNeeded(core).filter((nodeId) => nodeId !== core.nodeId)
}
