/**
 * When a newcomer may have a vote. Pure.
 *
 * Owns: the bounds. Rule: a voter that lags would hold back every commit that needs it, and one whose state differs must never count.
 */
import type { MemberStatus } from '../../cluster/index.ts'

export { commonChecksum } from '../operations/membership/equal-states.ts'

const LAG_ENTRIES_MAX = 256
const LAG_BYTES_MAX = 1024 * 1024
const SILENT_MS_MAX = 1_000

/** As the leader sees it. */
export function isCaughtUp(leader: Pick<MemberStatus, 'peers'>, newcomer: string): boolean {
  const peer = leader.peers.find(({ nodeId }) => nodeId === newcomer)
  if (peer === undefined || peer.matchIndex === 0) return false
  return (
    peer.lagEntries <= LAG_ENTRIES_MAX && peer.lagBytes <= LAG_BYTES_MAX && peer.silentMs <= SILENT_MS_MAX
  )
}
