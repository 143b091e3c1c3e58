/**
 * When a newcomer may have a vote. Pure.
 *
 * Owns: the bounds. Rule: a voter that lags would hold back every commit that needs it, and one whose state differs must never count.
 */
import type { MemberStatus } from '../../cluster/index.ts'
import type { StandingBlocker } from '../state-machine/operations/records.ts'

export { commonChecksum } from '../operations/membership/equal-states.ts'

const LAG_ENTRIES_MAX = 256
const LAG_BYTES_MAX = 1024 * 1024
const SILENT_MS_MAX = 1_000

/** What a newcomer lacks. */
export interface Lack {
  /** For people. */
  readonly phase: string
  /** Absent: it is a matter of time. */
  readonly blocker?: StandingBlocker
  /** How long the operation may still take, where that is known. */
  readonly dueInMs?: number
}

export function tooSlow(name: string, ms: number): Lack {
  const lag = `${LAG_ENTRIES_MAX} entries and ${LAG_BYTES_MAX / 1024 / 1024} MiB of the log`
  const message = `"${name}" gets no vote: for ${ms / 1000} s it has not come within ${lag}; the leader keeps the log for it within cluster.log_pin_bytes, so look at its disk, its network and that bound, or cancel this operation`
  return { phase: 'stalled: it cannot catch up', blocker: { code: 'learner_not_ready', message } }
}

export function silent(name: string): Lack {
  const message = `"${name}" gets no vote: it does not say how its state stands; see what its log says and whether it is reached from the leader, or cancel this operation`
  return { phase: 'stalled: it does not answer', blocker: { code: 'learner_not_ready', message } }
}

export function notKeepingUp(name: string): Lack {
  const message = `"${name}" gets no vote: it has fallen behind again, or is not heard; bring it back, or cancel this operation`
  return { phase: 'stalled: it does not keep up any more', blocker: { code: 'learner_not_ready', message } }
}

export function noMajority(silent: readonly string[]): Lack {
  const names = silent.join(', ')
  const message = `No vote moves: ${names} would have one afterwards and are not heard, and the others are no majority; bring them back, or cancel this operation`
  const phase = `waiting: without ${names} the voters of afterwards are no majority`
  return { phase, blocker: { code: 'would_lose_quorum', message } }
}

export function exchanged(name: string): Lack {
  const message = `"${name}" gets no vote: the data directory that answers is not the one that was asked to join; bring that one back, or cancel this operation`
  const phase = 'stalled: it is not the data directory that was asked to join'
  return { phase, blocker: { code: 'learner_not_ready', message } }
}

export function unequal(name: string): Lack {
  const message = `"${name}" gets no vote: its state differs from that of the leader at the same index; cancel this operation, and let the machine join under a name that was never used, with an empty data directory`
  return { phase: 'stalled: state_checksum_mismatch', blocker: { code: 'state_checksum_mismatch', message } }
}

/** As the leader sees it. */
export function isCaughtUp(leader: Pick<MemberStatus, 'peers'>, newcomer: string): boolean {
  const peer = leader.peers.find(({ nodeId }) => nodeId === newcomer)
  if (peer === undefined || !isHeard(leader, newcomer)) return false
  return peer.lagEntries <= LAG_ENTRIES_MAX && peer.lagBytes <= LAG_BYTES_MAX
}

/** Not a word of it for so long, as far as this leader knows. */
export function isSilent({ peers }: Pick<MemberStatus, 'peers'>, member: string, ms: number): boolean {
  const peer = peers.find(({ nodeId }) => nodeId === member)
  return peer === undefined || peer.silentMs >= ms
}

/** Just now, and since this leader leads: a new one knows of nobody yet. */
export function isHeard({ peers }: Pick<MemberStatus, 'peers'>, member: string): boolean {
  const peer = peers.find(({ nodeId }) => nodeId === member)
  return peer !== undefined && peer.matchIndex > 0 && peer.silentMs <= SILENT_MS_MAX
}
