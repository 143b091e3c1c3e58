/**
 * Which nodes need the log of this node next, and from where.
 *
 * Owns: which nodes count. Knows nothing of: sizes, bounds, segments. Rule: a member pins while it sends messages; one that has been
 * silent for long gets what is always kept, or a snapshot. On a full disk no member pins.
 */
import type { RaftStatus } from '../../raft/types.ts'
import type { LogPin } from './log-keeper.ts'

export interface PinRules {
  /** Ticks without a message after which a member pins nothing. Count. */
  readonly silentTicksMax: number
  readonly isDiskFull: boolean
  /** Of the snapshots that are being read here. */
  readonly cuts: readonly LogPin[]
}

export function logPins(
  { peers }: Pick<RaftStatus, 'peers'>,
  { silentTicksMax, isDiskFull, cuts }: PinRules,
): readonly LogPin[] {
  if (isDiskFull) return []
  const fed = peers
    .filter(({ silentTicks }) => silentTicks <= silentTicksMax)
    .map(({ nodeId, matchIndex, offeredIndex }) => ({
      nodeId,
      index: Math.max(matchIndex, offeredIndex ?? 0),
    }))
  return [...fed, ...cuts]
}
