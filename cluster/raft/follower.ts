/**
 * Taking entries from the leader of the term.
 *
 * Owns: the consistency check and the truncation of conflicting entries [thesis 3.5]. Knows nothing of: elections.
 * Rule: what is committed is never truncated, and an acknowledgement names only what is equal to the leader's log AND
 * durable here.
 */
import { ContradictionError } from './assert.ts'
import { commitTo, envelope, promise, resetElectionTimer } from './core.ts'
import type { Core } from './core.ts'
import { doubt } from './doubts.ts'
import { becomeFollower, setLeader } from './role.ts'
import type { AppendEntries, Entry, LogIndex, NodeId } from './types.ts'

/** A message of a leader of the current term. False: another node leads the term; the first known leader stays the leader here. */
export function followLeader(core: Core, leaderId: NodeId): boolean {
  if (core.leaderId !== null && core.leaderId !== leaderId) {
    doubt(core, leaderId, 'second_leader', `leads term ${core.term}, and so does ${core.leaderId}`)
    return false
  }
  if (core.role !== 'follower') becomeFollower(core, core.term, leaderId)
  setLeader(core, leaderId)
  resetElectionTimer(core)
  return true
}

export function handleAppendEntries(core: Core, message: AppendEntries): void {
  if (hasGap(core, message) || !followLeader(core, message.from)) return
  const { prevLogIndex, prevLogTerm, entries } = message
  // Below the commit index the logs are equal without looking: a leader holds everything committed.
  if (prevLogIndex >= core.commitIndex && !core.log.matches(prevLogIndex, prevLogTerm)) {
    reject(core, message)
    return
  }
  appendEntries(core, entries)
  const matched = Math.max(prevLogIndex + entries.length, core.commitIndex)
  commitTo(core, Math.max(core.commitIndex, Math.min(message.leaderCommit, matched)))
  acknowledge(core, message, matched)
}

/** Adds the missing entries. Entries that the log holds already stay: an old message must not shorten the log. */
function appendEntries(core: Core, entries: readonly Entry[]): void {
  const { configurations, durability, log } = core
  const known = entries.filter((entry) => entry.index <= core.commitIndex)
  for (const { index, term } of known) {
    if ((log.termAt(index) ?? term) !== term)
      throw new ContradictionError(`the leader of term ${core.term} contradicts committed entry ${index}`)
  }
  const first = entries.find(
    (entry) => entry.index > core.commitIndex && !log.matches(entry.index, entry.term),
  )
  if (first === undefined) return
  if (first.index <= log.lastIndex) {
    log.truncateFrom(first.index)
    configurations.truncatedFrom(first.index)
    durability.truncatedFrom(first.index)
  }
  const added = entries.filter((entry) => entry.index >= first.index)
  log.append(added)
  configurations.appended(added)
  durability.appended(first.index)
}

/**
 * New entries are acknowledged when they are durable. An empty append is answered at once with the present durable index: a
 * slow disk must not look like a dead node.
 */
function acknowledge(core: Core, message: AppendEntries, matched: LogIndex): void {
  const { durableIndex } = core.durability
  const mayWait = message.entries.length > 0 && matched > durableIndex
  const index = mayWait ? matched : Math.min(matched, durableIndex)
  promise(
    core,
    { ...response(core, message), success: true, index, hintIndex: 0, hintTerm: 0 },
    mayWait ? 'log' : 'hardState',
  )
}

function reject(core: Core, message: AppendEntries): void {
  const index = message.prevLogIndex
  const hintIndex = core.log.lastNotAfterTerm(index, message.prevLogTerm)
  const hintTerm = core.log.knownTermAt(hintIndex)
  promise(core, { ...response(core, message), success: false, index, hintIndex, hintTerm }, 'hardState')
}

function response(core: Core, message: AppendEntries) {
  return {
    type: 'AppendEntriesResponse',
    ...envelope(core, message.from),
    readToken: message.readToken,
  } as const
}

function hasGap(core: Core, { from, prevLogIndex, entries }: AppendEntries): boolean {
  const gap = entries.find((entry, offset) => entry.index !== prevLogIndex + 1 + offset)
  if (gap === undefined) return false
  doubt(core, from, 'entries_with_gap', `sends entry ${gap.index} that does not follow ${prevLogIndex}`)
  return true
}
