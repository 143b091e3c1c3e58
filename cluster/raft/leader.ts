/**
 * The work of a leader: it opens its term, takes proposals, counts answers, keeps its authority.
 *
 * Owns: commitment. Knows nothing of: how it was elected, how messages to peers are cut (replication.ts).
 * Rule: only entries of the leader's own term commit by counting; older ones commit with them [thesis 3.6.2]. The
 * leader's own copy counts when its disk has it, not before.
 */
import { agreedIndex, hasAgreement, votersNeeded } from './agreement.ts'
import { assert } from './assert.ts'
import { membersOf } from './configuration.ts'
import { appendOwn, commitTo, emit, ownDoubt } from './core.ts'
import type { Core } from './core.ts'
import { doubt } from './doubts.ts'
import { dropRemovedPeers } from './configuration-changes.ts'
import { Progress } from './progress.ts'
import { hasQuorum } from './quorum.ts'
import { ReadRounds } from './read-rounds.ts'
import { sendHeartbeats } from './replication.ts'
import { becomeFollower, leadershipOf, setLeader } from './role.ts'
import { orderElectionWhenReady, tickTransfer } from './transfer.ts'
import type {
  AppendEntriesResponse,
  DiskDoubt,
  InstallSnapshotResponse,
  LogIndex,
  NodeId,
  RefusalReason,
} from './types.ts'

const NO_DATA = new Uint8Array(0)

export function becomeLeader(core: Core): void {
  assert(core.role === 'candidate', `a ${core.role} cannot become leader`)
  assert(core.votedFor === core.nodeId, 'a leader has voted for itself')
  const nextIndex = core.log.lastIndex + 1
  const members = new Set([...membersOf(core.configurations.current), ...votersNeeded(core)])
  const peerIds = [...members].filter((nodeId) => nodeId !== core.nodeId)
  core.role = 'leader'
  core.leadership = {
    peers: new Map(peerIds.map((nodeId) => [nodeId, new Progress(nextIndex)])),
    noopIndex: nextIndex,
    reads: new ReadRounds(),
    transfer: null,
  }
  setLeader(core, core.nodeId)
  appendOwn(core, { index: nextIndex, term: core.term, kind: 'noop', data: NO_DATA })
}

export function tickLeader(core: Core): void {
  const { electionTicks } = core.options
  const leadership = leadershipOf(core)
  const { peers } = leadership
  for (const peer of peers.values()) peer.tick()
  const isActive = (nodeId: NodeId): boolean =>
    nodeId === core.nodeId || (peers.get(nodeId)?.silentTicks ?? electionTicks) < electionTicks
  const proved = (nodeId: NodeId): boolean => isActive(nodeId) && doubtOf(core, nodeId) === null
  // A leader that cannot commit anything steps down.
  if (!hasAgreement(core, { agreed: isActive, proved, isRolledBack: rolledBackIn(core) })) {
    becomeFollower(core, core.term, null)
    return
  }
  dropRemovedPeers(core, leadership)
  tickTransfer(core)
  sendHeartbeats(core)
}

/** From now on the entries on this disk count like those of any other member. */
export function diskProved(core: Core): void {
  core.trust = 'proved'
  if (core.role === 'leader') advanceCommit(core)
}

/** After a pause another node may lead. Only a leader that is a quorum by itself cannot have been replaced. */
export function leaderWokeUp(core: Core): void {
  const isQuorum = hasQuorum(core.configurations.current, (nodeId) => nodeId === core.nodeId)
  if (!isQuorum) becomeFollower(core, core.term, null)
}

export function propose(core: Core, proposalId: number, data: Uint8Array): void {
  const reason = refusalOf(core, data)
  if (reason !== null) {
    emit(core, { type: 'proposalRefused', proposalId, reason })
    return
  }
  const entry = { index: core.log.lastIndex + 1, term: core.term, kind: 'command', data } as const
  appendOwn(core, entry)
  emit(core, { type: 'proposalAccepted', proposalId, index: entry.index, term: entry.term })
}

export function handleAppendEntriesResponse(core: Core, message: AppendEntriesResponse): void {
  const { peers, reads } = leadershipOf(core)
  const peer = peers.get(message.from)
  if (peer === undefined) return
  if (isImpossible(core, message, reads.token)) return
  peer.readToken = Math.max(peer.readToken, message.readToken)
  if (message.doubt === undefined) peer.provedToken = Math.max(peer.provedToken, message.readToken)
  if (message.success) accepted(core, peer, message)
  else rejected(core, peer, message)
}

export function handleInstallSnapshotResponse(core: Core, message: InstallSnapshotResponse): void {
  const peer = leadershipOf(core).peers.get(message.from)
  if (peer === undefined || isBeyondLog(core, message)) return
  acknowledge(core, message)
  // An answer below the base is an old one: the offer is repeated in due time.
  if (peer.state === 'snapshot' && peer.matchIndex >= core.log.base.index)
    peer.becomeProbe(peer.matchIndex + 1)
}

/** The doubt about this member's disk, or the doubt that a peer's last message stated. */
function doubtOf(core: Core, nodeId: NodeId): DiskDoubt | null {
  return nodeId === core.nodeId ? ownDoubt(core) : (core.leadership?.peers.get(nodeId)?.doubt ?? null)
}

export function rolledBackIn(core: Core): (nodeId: NodeId) => boolean {
  return (nodeId) => doubtOf(core, nodeId) === 'rolledBack'
}

/**
 * Called whenever a copy of an entry became durable on a member. When that commits a new configuration, the one before it is not asked
 * any more: what follows may then be committed too, with no further answer.
 */
export function advanceCommit(core: Core): void {
  for (;;) {
    const index = durablyAgreedIndex(core)
    if (index <= core.commitIndex || core.log.knownTermAt(index) !== core.term) return
    commitTo(core, index)
  }
}

function durablyAgreedIndex(core: Core): LogIndex {
  const { peers } = leadershipOf(core)
  const own = core.durability.durableIndex
  return agreedIndex(core, {
    agreed: (nodeId) => (nodeId === core.nodeId ? own : (peers.get(nodeId)?.matchIndex ?? 0)),
    proved: (nodeId) => {
      if (nodeId !== core.nodeId) return peers.get(nodeId)?.provedIndex ?? 0
      return core.trust === 'proved' ? own : 0
    },
    isRolledBack: rolledBackIn(core),
  })
}

function accepted(core: Core, peer: Progress, message: AppendEntriesResponse): void {
  const isMatched = message.index >= peer.nextIndex - 1
  const isNews = acknowledge(core, message)
  const isInLog = peer.matchIndex >= core.log.base.index
  if (peer.state === 'probe' && (isNews || isMatched)) peer.becomeReplicate()
  else if (peer.state === 'snapshot' && isNews && isInLog) peer.becomeReplicate()
}

/** Counting such an answer would commit entries that do not exist; stopping this member would remove the log to compare others with. */
function isImpossible(core: Core, message: AppendEntriesResponse, token: number): boolean {
  if (message.readToken > token) {
    doubt(core, message.from, 'echoes_unknown_token', `echoes read token ${message.readToken} of ${token}`)
    return true
  }
  return message.success && isBeyondLog(core, message)
}

function isBeyondLog(core: Core, { from, index }: AppendEntriesResponse | InstallSnapshotResponse): boolean {
  const { lastIndex } = core.log
  if (index <= lastIndex) return false
  doubt(core, from, 'acknowledges_beyond_log', `acknowledges ${index} beyond the log end ${lastIndex}`)
  return true
}

/** Both sides skip whole terms, so a probe is needed at most once per term that differs [thesis 3.5]. */
function rejected(core: Core, peer: Progress, message: AppendEntriesResponse): void {
  const acknowledged = peer.matchIndex
  const hasLost = message.index <= acknowledged && hasLostAcknowledged(core, peer, message)
  if (hasLost) emit(core, { type: 'peerForgot', peer: message.from, acknowledged })
  else if (!peer.isRejectionCurrent(message.index)) return
  const meeting = core.log.lastNotAfterTerm(message.hintIndex, message.hintTerm)
  peer.becomeProbe(Math.min(message.index, meeting + 1))
}

/** An entry that was committed by counting this peer stays committed: the commit index never falls. */
function hasLostAcknowledged(core: Core, peer: Progress, message: AppendEntriesResponse): boolean {
  const { reads } = leadershipOf(core)
  return peer.hasLost(message.readToken, () => reads.renew())
}

function acknowledge(core: Core, message: AppendEntriesResponse | InstallSnapshotResponse): boolean {
  const peer = leadershipOf(core).peers.get(message.from)
  assert(peer !== undefined, 'an acknowledgement comes from a peer')
  const isNews = peer.acked(message.index, message.doubt)
  if (isNews) advanceCommit(core)
  if (isNews) orderElectionWhenReady(core)
  return isNews
}

function refusalOf(core: Core, data: Uint8Array): RefusalReason | null {
  const { log, leadership, options } = core
  if (leadership === null) return 'notLeader'
  if (leadership.transfer !== null) return 'transferring'
  if (data.length > options.limits.entryBytesMax) return 'tooLarge'
  const uncommittedBytes = log.bytesBetween(core.commitIndex, log.lastIndex)
  // An empty backlog takes any entry, or a limit below the size of one entry would refuse it forever.
  const isFull = uncommittedBytes > 0 && uncommittedBytes + data.length > options.limits.uncommittedBytesMax
  return isFull ? 'backlogFull' : null
}
