/**
 * The gate for messages: which term they belong to, and whether they are handled at all.
 *
 * Owns: raising the term, answering older terms. Knows nothing of: what a message asks for.
 * Rule: a message of an older term changes nothing but what is known to be committed; a pre-vote, asked or granted, never raises the term
 * [thesis 9.6]; a request for votes is ignored while messages of a leader arrive [thesis 4.2.3].
 */
import { envelope, promise } from './core.ts'
import type { Core } from './core.ts'
import { hasActiveLeader } from './election.ts'
import { becomeFollower } from './role.ts'
import type { Message, NodeId } from './types.ts'

/** True when the message may be handled in the current term. */
export function admit(core: Core, message: Message): boolean {
  if (
    message.type === 'RequestVote' &&
    !message.transfer &&
    message.term > core.term &&
    hasActiveLeader(core)
  )
    return false
  if (message.term < core.term) {
    answerPast(core, message)
    return message.type === 'RequestVote'
  }
  if (message.term > core.term && !isAboutNextTerm(message)) {
    becomeFollower(core, message.term, leaderOf(message))
  }
  recordContact(core, message)
  return true
}

/** A pre-vote names a term that no member has entered yet. */
function isAboutNextTerm(message: Message): boolean {
  if (message.type === 'RequestVote') return message.preVote
  return message.type === 'RequestVoteResponse' && message.preVote && message.granted
}

function leaderOf(message: Message): NodeId | null {
  return message.type === 'AppendEntries' || message.type === 'InstallSnapshot' ? message.from : null
}

/**
 * A leader of an older term must learn of the newer one, even if it receives from no other node: otherwise this node, whose term is
 * ahead, would never follow it again.
 */
function answerPast(core: Core, message: Message): void {
  if (leaderOf(message) === null) return
  promise(
    core,
    {
      type: 'AppendEntriesResponse',
      ...envelope(core, message.from),
      success: false,
      index: 0,
      hintIndex: 0,
      hintTerm: 0,
      readToken: 0,
    },
    'hardState',
  )
}

function recordContact(core: Core, message: Message): void {
  const peer = core.leadership?.peers.get(message.from)
  if (peer === undefined || message.term !== core.term) return
  peer.silentTicks = 0
  peer.doubt = message.doubt ?? null
}
