/**
 * When a newcomer may have a vote. Pure.
 *
 * Owns: the bounds. Rule: a voter that lags would hold back every commit that needs it, and one whose state differs must never count.
 */
import type { MemberStatus } from '../../cluster/index.ts'

const LAG_ENTRIES_MAX = 256
const LAG_BYTES_MAX = 1024 * 1024
const SILENT_MS_MAX = 1_000

/** As the leader sees it. */
export function isCaughtUp(leader: Pick<MemberStatus, 'peers'>, newcomer: string): boolean {
  const peer = leader.peers.find(({ nodeId }) => nodeId === newcomer)
  if (peer === undefined || !isHeard(leader, newcomer)) return false
  return peer.lagEntries <= LAG_ENTRIES_MAX && peer.lagBytes <= LAG_BYTES_MAX
}

/** Just now, and since this leader leads: a new one knows of nobody yet. */
export function isHeard({ peers }: Pick<MemberStatus, 'peers'>, member: string): boolean {
  const peer = peers.find(({ nodeId }) => nodeId === member)
  return peer !== undefined && peer.matchIndex > 0 && peer.silentMs <= SILENT_MS_MAX
}

/**
 * What the sums at indexes that both have passed say. One that was taken while a batch was applied may stand at the index before it, so
 * a single equal one proves more than an unequal one.
 */
export function commonChecksum(
  one: Pick<MemberStatus, 'checksums'>,
  other: Pick<MemberStatus, 'checksums'>,
): 'equal' | 'different' | 'unknown' {
  const sums = new Map(one.checksums)
  const common = other.checksums.filter(([index]) => sums.has(index))
  if (common.length === 0) return 'unknown'
  return common.some(([index, sum]) => sums.get(index) === sum) ? 'equal' : 'different'
}
