/**
 * What a leader does: opens its term, takes proposals, counts answers, keeps its authority.
 *
 * Owns: commitment. Knows nothing of: how it was elected, how messages to peers are cut (replication.ts).
 * Rule: only entries of the leader's own term commit by counting; older ones commit with them [thesis 3.6.2]. The
 * leader's own copy counts when its disk has it, not before.
 */
import { assert } from './assert.ts'
import { membersOf } from './configuration.ts'
import { appendOwn, commitTo, emit } from './core.ts'
import type { Core } from './core.ts'
import { dropRemovedPeers } from './membership.ts'
import { Progress } from './progress.ts'
import { hasQuorum, quorumIndex } from './quorum.ts'
import { ReadRounds } from './read-rounds.ts'
import { sendHeartbeats } from './replication.ts'
import { becomeFollower, leadershipOf, setLeader } from './role.ts'
import { orderElectionWhenReady, tickTransfer } from './transfer.ts'
import type {
  AppendEntriesResponse,
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
  const peerIds = membersOf(core.configurations.current).filter((nodeId) => nodeId !== core.nodeId)
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
  const isHeard = (nodeId: NodeId): boolean =>
    nodeId === core.nodeId || (peers.get(nodeId)?.silentTicks ?? electionTicks) < electionTicks
  if (!hasQuorum(core.configurations.current, isHeard)) {
    becomeFollower(core, core.term, null)
    return
  }
  dropRemovedPeers(core, leadership)
  tickTransfer(core)
  sendHeartbeats(core)
}

/** After a pause somebody else may lead. Only a leader that is a quorum by itself cannot have been replaced. */
export function leaderWokeUp(core: Core): void {
  const isAlone = hasQuorum(core.configurations.current, (nodeId) => nodeId === core.nodeId)
  if (!isAlone) becomeFollower(core, core.term, null)
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
  assert(message.readToken <= reads.token, 'a peer echoes a token that was never made')
  peer.readToken = Math.max(peer.readToken, message.readToken)
  if (message.success) accepted(core, peer, message)
  else rejected(core, peer, message)
}

export function handleInstallSnapshotResponse(core: Core, message: InstallSnapshotResponse): void {
  const peer = leadershipOf(core).peers.get(message.from)
  if (peer === undefined) return
  acknowledge(core, message.from, message.index)
  // Below the base the answer is an old one: the offer is repeated in due time.
  if (peer.state === 'snapshot' && peer.matchIndex >= core.log.base.index)
    peer.becomeProbe(peer.matchIndex + 1)
}

/** Called whenever a copy of an entry became durable somewhere. */
export function advanceCommit(core: Core): void {
  const { peers } = leadershipOf(core)
  const durableAt = (nodeId: NodeId): LogIndex =>
    nodeId === core.nodeId ? core.durability.durableIndex : (peers.get(nodeId)?.matchIndex ?? 0)
  const index = quorumIndex(core.configurations.current, durableAt)
  if (index > core.commitIndex && core.log.knownTermAt(index) === core.term) commitTo(core, index)
}

function accepted(core: Core, peer: Progress, message: AppendEntriesResponse): void {
  const meets = message.index >= peer.nextIndex - 1
  const isNews = acknowledge(core, message.from, message.index)
  const isInLog = peer.matchIndex >= core.log.base.index
  if (peer.state === 'probe' && (isNews || meets)) peer.becomeReplicate()
  else if (peer.state === 'snapshot' && isNews && isInLog) peer.becomeReplicate()
}

/** Both sides skip whole terms, so a probe is needed at most once per term that differs [thesis 3.5]. */
function rejected(core: Core, peer: Progress, message: AppendEntriesResponse): void {
  if (!peer.isRejectionCurrent(message.index)) return
  const meeting = core.log.lastNotAfterTerm(message.hintIndex, message.hintTerm)
  peer.becomeProbe(Math.min(message.index, meeting + 1))
}

function acknowledge(core: Core, from: NodeId, index: LogIndex): boolean {
  const peer = leadershipOf(core).peers.get(from)
  assert(peer !== undefined, 'an acknowledgement comes from a peer')
  assert(
    index <= core.log.lastIndex,
    `${from} acknowledges ${index} beyond the log end ${core.log.lastIndex}`,
  )
  const isNews = peer.acked(index)
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
  // An empty backlog takes anything, or a limit below the size of one entry would refuse it for ever.
  const isFull = uncommittedBytes > 0 && uncommittedBytes + data.length > options.limits.uncommittedBytesMax
  return isFull ? 'backlogFull' : null
}
