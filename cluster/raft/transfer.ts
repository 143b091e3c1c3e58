/**
 * Handing leadership over on purpose [thesis 3.10].
 *
 * Owns: the choice of a target and the moment of TimeoutNow. Knows nothing of: elections.
 * Rule: while a transfer is under way proposals are refused, or the target could never catch up; after one election
 * time-out the leader cancels the transfer and continues to lead.
 */
import { envelope, send } from './core.ts'
import type { Core } from './core.ts'
import { leadershipOf } from './role.ts'
import type { NodeId } from './types.ts'

export function transferLeadership(core: Core, wanted: NodeId | null): void {
  if (core.leadership === null) return
  const target = wanted ?? mostUpToDateVoter(core)
  if (target === null || !isCandidateForTransfer(core, target)) return
  if (core.leadership.transfer?.target === target) return
  core.leadership.transfer = { target, ticks: 0 }
  orderElectionWhenReady(core)
}

export function tickTransfer(core: Core): void {
  const leadership = leadershipOf(core)
  if (leadership.transfer === null) return
  leadership.transfer.ticks += 1
  if (leadership.transfer.ticks >= core.options.electionTicks) leadership.transfer = null
  else orderElectionWhenReady(core)
}

/** Repeated on ticks: a lost order costs one heartbeat, and a duplicate reaches a target that is in a higher term already. */
export function orderElectionWhenReady(core: Core): void {
  const { peers, transfer } = leadershipOf(core)
  if (transfer === null) return
  if (peers.get(transfer.target)?.matchIndex !== core.log.lastIndex) return
  send(core, { type: 'TimeoutNow', ...envelope(core, transfer.target) })
}

/** The choice is among voters that sent a message within an election time-out. */
export function mostUpToDateVoter(core: Core): NodeId | null {
  const rows = [...leadershipOf(core).peers].filter(([nodeId, peer]) => {
    const isActive = peer.silentTicks < core.options.electionTicks
    // A suspect wins only with more votes than a majority.
    return isCandidateForTransfer(core, nodeId) && isActive && peer.doubt === null
  })
  rows.sort(([, a], [, b]) => b.matchIndex - a.matchIndex || a.silentTicks - b.silentTicks)
  return rows[0]?.[0] ?? null
}

function isCandidateForTransfer(core: Core, nodeId: NodeId): boolean {
  return nodeId !== core.nodeId && core.configurations.current.voters.includes(nodeId)
}
