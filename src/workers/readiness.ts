/**
 * When a joining node may have a vote. Pure.
 *
 * Owns: the bounds. Rule: a voter that lags would hold back every commit that needs it, and one whose state differs must never count.
 */
import type { MemberStatus } from '../../cluster/index.ts'
import type { PersistentBlocker } from '../state-machine/long-operations/records.ts'

export { commonChecksum } from '../operations/membership/equal-states.ts'

const LAG_ENTRIES_MAX = 256
const LAG_BYTES_MAX = 1024 * 1024
const SILENT_MS_MAX = 1_000

/** Why a joining node may not have a vote yet. */
export interface StepBlocker {
  /** Text for people. */
  readonly phase: string
  /** Absent: only time is needed. */
  readonly blocker?: PersistentBlocker
  /** How long the operation may still take, where that is known. */
  readonly dueInMs?: number
}

export function tooSlow(name: string, ms: number): StepBlocker {
  const lag = `${LAG_ENTRIES_MAX} entries and ${LAG_BYTES_MAX / 1024 / 1024} MiB of the log`
  const message = `"${name}" gets no vote: for ${ms / 1000} s it has not come within ${lag}; the leader keeps the log for it within cluster.log_pin_bytes, so look at its disk, its network and that bound, or cancel this operation`
  return { phase: 'stalled: it cannot catch up', blocker: { code: 'learner_not_ready', message } }
}

export function silent(name: string): StepBlocker {
  const message = `"${name}" gets no vote: it does not report its state; check its log and whether the leader can reach it, or cancel this operation`
  return { phase: 'stalled: it does not answer', blocker: { code: 'learner_not_ready', message } }
}

export function notKeepingUp(name: string): StepBlocker {
  const message = `"${name}" gets no vote: it has fallen behind again, or does not answer; bring it back, or cancel this operation`
  return { phase: 'stalled: it does not keep up any more', blocker: { code: 'learner_not_ready', message } }
}

export function noMajority(silent: readonly string[]): StepBlocker {
  const names = silent.join(', ')
  const message = `No vote moves: ${names} would have one afterwards and do not answer, and the others are no majority; bring them back, or cancel this operation`
  const phase = `waiting: without ${names} the voters of afterwards are no majority`
  return { phase, blocker: { code: 'would_lose_quorum', message } }
}

export function exchanged(name: string): StepBlocker {
  const message = `"${name}" gets no vote: the data directory that answers is not the one that was asked to join; bring that one back, or cancel this operation`
  const phase = 'stalled: it is not the data directory that was asked to join'
  return { phase, blocker: { code: 'learner_not_ready', message } }
}

export function unequal(name: string): StepBlocker {
  const message = `"${name}" gets no vote: its state differs from that of the leader at the same index; cancel this operation, and let the machine join under a name that was never used, with an empty data directory`
  return { phase: 'stalled: state_checksum_mismatch', blocker: { code: 'state_checksum_mismatch', message } }
}

/** As the leader sees it. */
export function isCaughtUp(leader: Pick<MemberStatus, 'peers'>, newcomer: string): boolean {
  const peer = leader.peers.find(({ nodeId }) => nodeId === newcomer)
  if (peer === undefined || !isActive(leader, newcomer)) return false
  return peer.lagEntries <= LAG_ENTRIES_MAX && peer.lagBytes <= LAG_BYTES_MAX
}

/** How long this leader has had no message from it. */
export function isSilent({ peers }: Pick<MemberStatus, 'peers'>, member: string, ms: number): boolean {
  const peer = peers.find(({ nodeId }) => nodeId === member)
  return peer === undefined || peer.silentMs >= ms
}

/** An answer came recently and in the term of this leader: a new leader has no answer from any node yet. */
export function isActive({ peers }: Pick<MemberStatus, 'peers'>, member: string): boolean {
  const peer = peers.find(({ nodeId }) => nodeId === member)
  return peer !== undefined && peer.matchIndex > 0 && peer.silentMs <= SILENT_MS_MAX
}
