/**
 * The two watches of the disk of log and state, which know each other: whether it answers, and whether it has space.
 *
 * Knows nothing of: what either decides. Rule: the lead leaves a disk only through this file.
 */
import type { NodeId } from '../../raft/types.ts'
import { DiskWatch } from './disk-watch.ts'
import type { NodeLimits } from '../base/limits.ts'
import type { NodeOptions, NodeParts } from '../base/options.ts'
import { RoomWatch } from '../base/room-watch.ts'

interface Late {
  readonly isLeader: () => boolean
  /** If this node leads. Null: to any voter. */
  readonly offerLead: (target: NodeId | null) => void
  readonly voters: () => readonly NodeId[]
  readonly onDead: (error: Error) => void
}

export interface DiskWatches {
  readonly disk: DiskWatch
  readonly room: RoomWatch
}

export function watchDisks(
  { nodeId: self, electionTimeoutMs }: NodeOptions,
  parts: NodeParts & { readonly limits: NodeLimits },
  late: Late,
): DiskWatches {
  const disk: DiskWatch = new DiskWatch({
    ...parts,
    ...late,
    electionTimeoutMs,
    isScarce: () => room.level !== 'open',
    handOver: () => room.leaveDisk(disk.isStalled),
  })
  const onReserveBack = (): void => disk.onRoom()
  const room = new RoomWatch({ ...parts, ...late, isReserveSpent: () => disk.isFull, onReserveBack, self })
  return { disk, room }
}
