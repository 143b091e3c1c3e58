/**
 * What the leader sends to its peers, and when.
 *
 * Owns: the choice between entries, an empty append and a snapshot offer. Knows nothing of: answers.
 * Rule: an empty append in place of a heartbeat asks at an index where the leader knows the logs to match, so that it can
 * never disturb a stream; it asks at the stream's end only while probing or when the window seems lost.
 */
import { entriesFor, envelope, send } from './core.ts'
import type { Core } from './core.ts'
import type { Progress } from './progress.ts'
import { leadershipOf } from './role.ts'
import type { Entry, LogIndex, NodeId } from './types.ts'

/** Entries without data have no bytes to be limited by. */
const ENTRIES_PER_MESSAGE_MAX = 1024

/** Sends each peer what its window allows now. With `toAll` every peer gets a message (a read round has started). */
export function replicate(core: Core, toAll: boolean): void {
  for (const [to, peer] of leadershipOf(core).peers) {
    const hasSent = sendEntries(core, to, peer)
    if (!hasSent && isCommitNews(core, peer))
      sendAppend(core, to, peer, { after: peer.nextIndex - 1, entries: [] })
    else if (!hasSent && toAll) sendEmptyAppend(core, to, peer)
  }
}

/** One heartbeat interval has passed: every peer is sent a message, regardless of its window, unless the last one still covers the time. */
export function sendHeartbeats(core: Core): void {
  const { idleHeartbeatTicks = 1 } = core.options
  for (const [to, peer] of leadershipOf(core).peers) {
    if (peer.ticksSinceAppend < idleHeartbeatTicks && isIdle(core, peer)) continue
    sendEmptyAppend(core, to, peer)
    const isOfferDue = peer.ticksInState > 0 && peer.ticksInState % core.options.electionTicks === 0
    if (peer.state === 'snapshot' && isOfferDue) offerSnapshot(core, to, peer)
  }
}

/**
 * A further heartbeat would ask nothing: everything is committed and acknowledged, nothing waits for an answer, and the peer answered its
 * last heartbeat. A peer that did not answer is asked with every tick, so that a lost message costs no more than with the shorter interval.
 */
function isIdle(core: Core, peer: Progress): boolean {
  const { commitIndex, log, options } = core
  const { reads, transfer } = leadershipOf(core)
  return (
    commitIndex === log.lastIndex &&
    peer.matchIndex === log.lastIndex &&
    peer.state === 'replicate' &&
    peer.commitSent === commitIndex &&
    peer.silentTicks < (options.idleHeartbeatTicks ?? 1) &&
    peer.doubt === null &&
    !peer.hasForgotten &&
    peer.ticksSinceRemoval === 0 &&
    reads.open === null &&
    transfer === null
  )
}

function sendEntries(core: Core, to: NodeId, peer: Progress): boolean {
  const { log, options } = core
  const limits = { bytesMax: options.limits.messageBytesMax, countMax: ENTRIES_PER_MESSAGE_MAX }
  let hasSent = false
  while (peer.state !== 'snapshot') {
    if (peer.nextIndex <= log.base.index) {
      peer.becomeSnapshot()
      offerSnapshot(core, to, peer)
    } else if (peer.nextIndex > log.lastIndex || !peer.maySend(options.limits)) {
      break
    } else {
      const entries = entriesFor(core, to, { from: peer.nextIndex, through: log.lastIndex, limits })
      if (entries === null) {
        // The entries are being read. A probe finds the match index meanwhile.
        if (peer.state === 'probe') probe(core, to, peer)
        break
      }
      const last = peer.nextIndex + entries.length - 1
      const bytes = entries.reduce((sum, { data }) => sum + data.length, 0)
      sendAppend(core, to, peer, { after: peer.nextIndex - 1, entries })
      peer.sent(last, bytes)
      hasSent = true
    }
  }
  return hasSent
}

function probe(core: Core, to: NodeId, peer: Progress): void {
  sendAppend(core, to, peer, { after: peer.nextIndex - 1, entries: [] })
  peer.probed()
}

/** Every node completes its own proposals when it applies them, so the leader sends it a new commit index at once. */
function isCommitNews(core: Core, peer: Progress): boolean {
  if (peer.state !== 'replicate' || peer.nextIndex <= core.log.base.index) return false
  return Math.min(core.commitIndex, peer.nextIndex - 1) > peer.commitSent
}

function sendEmptyAppend(core: Core, to: NodeId, peer: Progress): void {
  sendAppend(core, to, peer, { after: heartbeatIndex(core, peer), entries: [] })
}

function heartbeatIndex(core: Core, peer: Progress): LogIndex {
  const asksAtTheEnd = peer.state === 'probe' || (peer.state === 'replicate' && peer.isWindowSuspect)
  const index = asksAtTheEnd ? peer.nextIndex - 1 : peer.matchIndex
  // The term before the base is forgotten. At zero all logs match.
  return index < core.log.base.index ? 0 : index
}

interface Append {
  readonly after: LogIndex
  readonly entries: readonly Entry[]
}

function sendAppend(core: Core, to: NodeId, peer: Progress, { after, entries }: Append): void {
  const { commitIndex, log } = core
  peer.ticksSinceAppend = 0
  peer.commitSent = Math.max(peer.commitSent, Math.min(commitIndex, after + entries.length))
  send(core, {
    type: 'AppendEntries',
    ...envelope(core, to),
    prevLogIndex: after,
    prevLogTerm: after === 0 ? 0 : log.knownTermAt(after),
    entries,
    leaderCommit: commitIndex,
    readToken: leadershipOf(core).reads.token,
  })
}

/** The offer names the applied prefix: the state machine has no other state to give, and its configuration is committed. */
function offerSnapshot(core: Core, to: NodeId, peer: Progress): void {
  const { appliedIndex, configurations, log } = core
  // Entries after the first offer are kept for the peer, as far as the log on disk may grow.
  if (peer.offeredIndex === null || peer.offeredIndex < log.base.index) peer.offeredIndex = appliedIndex
  send(core, {
    type: 'InstallSnapshot',
    ...envelope(core, to),
    lastIncluded: { index: appliedIndex, term: log.knownTermAt(appliedIndex) },
    configuration: configurations.applied,
  })
}
