/**
 * Falling back to follower from any other role.
 *
 * Owns: what must be dropped when a role or a leader ends. Knows nothing of: how roles are won.
 * Rule: leadership ends as a whole. Its reads are refused and its read tokens, progress and transfer are dropped, so no late
 * answer can be counted in another term.
 */
import { assert } from './assert.ts'
import { emit, envelope, promise, raiseTerm, resetCampaignTimer, resetElectionTimer } from './core.ts'
import type { Core, Leadership } from './core.ts'
import type { NodeId, Term } from './types.ts'

export function becomeFollower(core: Core, term: Term, leaderId: NodeId | null): void {
  const wasBeaten = leaderId === null && (core.role === 'candidate' || core.role === 'preCandidate')
  if (term !== core.term) raiseTerm(core, term)
  core.role = 'follower'
  core.votes = new Map()
  setLeader(core, leaderId)
  dropLeadership(core)
  if (wasBeaten) resetCampaignTimer(core)
  else resetElectionTimer(core)
}

/** A new leader does not answer a question to the one before it: the readers ask again. */
export function setLeader(core: Core, leaderId: NodeId | null): void {
  core.isLeaderSuspect = false
  if (core.leaderId === leaderId) return
  core.leaderId = leaderId
  refuseFollowerReads(core)
}

export function refuseFollowerReads(core: Core): void {
  for (const readId of core.followerReads.takeAll()) emit(core, { type: 'readRefused', readId })
}

export function leadershipOf(core: Core): Leadership {
  assert(core.leadership !== null, 'only a leader has peers')
  return core.leadership
}

function dropLeadership(core: Core): void {
  const reads = core.leadership?.reads.takeAll()
  core.leadership = null
  core.logReads.dropPeers()
  if (reads === undefined) return
  for (const readId of reads.local) emit(core, { type: 'readRefused', readId })
  for (const [peer, requestId] of reads.remote) {
    promise(core, { type: 'ReadIndexResponse', ...envelope(core, peer), requestId, index: null }, 'hardState')
  }
}
