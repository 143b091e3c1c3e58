/**
 * Linearizable reads without clocks [thesis 6.4].
 *
 * Owns: when a read index may be answered. Knows nothing of: how a reader waits for the apply.
 * Rule: the index is the leader's commit index at a moment after the read started; it is answered once a quorum has sent
 * messages of this term after that moment, and never before an entry of this term is committed. A request for a read index
 * counts as such a message of its sender.
 */
import { hasAgreement } from './agreement.ts'
import { emit, envelope, send } from './core.ts'
import type { Core, Leadership } from './core.ts'
import { rolledBackIn } from './leader.ts'
import type { ReadRound } from './read-rounds.ts'
import { refuseFollowerReads } from './role.ts'
import type { NodeId, ReadIndex, ReadIndexResponse } from './types.ts'

export function read(core: Core, readId: number): void {
  const isQueued =
    core.leadership === null
      ? core.leaderId !== null && core.followerReads.add(readId)
      : core.leadership.reads.addLocal(readId)
  if (!isQueued) emit(core, { type: 'readRefused', readId })
}

export function handleReadIndex(core: Core, message: ReadIndex): void {
  const { from, requestId } = message
  if (core.leadership?.peers.has(from) !== true) {
    sendReadIndexResponse(core, from, { requestId, index: null })
  } else if (isConfirmedByRequester(core, core.leadership, message)) {
    sendReadIndexResponse(core, from, { requestId, index: core.commitIndex })
  } else {
    core.leadership.reads.addRemote(from, requestId)
  }
}

/**
 * A question needs no round where its requester and the leader are a quorum, as in a group of three. The requester was in
 * this term when it asked, which was after its reads started; the leader is in this term now. So neither had voted in a later
 * term when the reads started, no node had won a later term, and every write acknowledged by then is committed here.
 */
function isConfirmedByRequester(core: Core, { noopIndex }: Leadership, message: ReadIndex): boolean {
  const { from: requester, doubt } = message
  const agreed = (nodeId: NodeId): boolean => nodeId === core.nodeId || nodeId === requester
  const proved = (nodeId: NodeId): boolean =>
    nodeId === core.nodeId ? core.trust === 'proved' : nodeId === requester && doubt === undefined
  return (
    core.commitIndex >= noopIndex && hasAgreement(core, { agreed, proved, isRolledBack: rolledBackIn(core) })
  )
}

export function handleReadIndexResponse(core: Core, message: ReadIndexResponse): void {
  if (message.from !== core.leaderId) return
  for (const readId of core.followerReads.answered(message.requestId)) {
    if (message.index === null) emit(core, { type: 'readRefused', readId })
    else emit(core, { type: 'readReady', readId, index: message.index })
  }
}

export function tickFollowerReads(core: Core): void {
  const requestId = core.followerReads.tick()
  if (core.followerReads.isOverdue(core.options.electionTicks)) refuseFollowerReads(core)
  else if (requestId !== null) askLeader(core, requestId)
}

/** Puts all waiting reads into one question, unless a question is open. */
export function askForWaitingReads(core: Core): void {
  if (core.leaderId === null || core.leadership !== null) return
  const requestId = core.followerReads.ask()
  if (requestId !== null) askLeader(core, requestId)
}

/** Ends the open round if it is confirmed and starts the next. True when a new token must be sent to the peers now. */
export function advanceReads(core: Core, leadership: Leadership): boolean {
  if (core.commitIndex < leadership.noopIndex) return false
  confirmRound(core, leadership)
  const hasStarted = leadership.reads.begin(core.commitIndex) !== null
  confirmRound(core, leadership)
  return hasStarted && leadership.reads.open !== null
}

function confirmRound(core: Core, { peers, reads }: Leadership): void {
  const round = reads.open
  if (round === null) return
  const agreed = (nodeId: NodeId): boolean =>
    nodeId === core.nodeId || (peers.get(nodeId)?.readToken ?? 0) >= round.token
  const proved = (nodeId: NodeId): boolean => {
    if (nodeId !== core.nodeId) return (peers.get(nodeId)?.provedToken ?? 0) >= round.token
    return core.trust === 'proved'
  }
  if (!hasAgreement(core, { agreed, proved, isRolledBack: rolledBackIn(core) })) return
  reads.close()
  answerRound(core, round)
}

function answerRound(core: Core, { index, local, remote }: ReadRound): void {
  for (const readId of local) emit(core, { type: 'readReady', readId, index })
  for (const [peer, requestId] of remote) sendReadIndexResponse(core, peer, { requestId, index })
}

function askLeader(core: Core, requestId: number): void {
  if (core.leaderId !== null) send(core, { type: 'ReadIndex', ...envelope(core, core.leaderId), requestId })
}

function sendReadIndexResponse(
  core: Core,
  to: NodeId,
  answer: { readonly requestId: number; readonly index: number | null },
): void {
  send(core, { type: 'ReadIndexResponse', ...envelope(core, to), ...answer })
}
