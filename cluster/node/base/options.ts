/**
 * The parts of a node: values and ports, so that the same node runs on real disks and in a virtual world.
 */
import type { Configuration, NodeId } from '../../raft/types.ts'
import type { Transport } from '../../transport/transport.ts'
import type { Logger, StateMachine } from '../../base/types.ts'
import type { Wal } from '../../wal/wal.ts'
import type { Clock } from '../../base/clock.ts'
import type { EntryTimes } from './entry-times.ts'
import type { DiskProof } from './disk-proof.ts'
import type { EntrySkip } from './entry-skips.ts'
import type { EpochFloor } from './epoch-floor.ts'
import type { Expulsion } from './expulsion.ts'
import type { NodeLimits } from './limits.ts'
import type { RoomView } from './room-watch.ts'

export interface NodeOptions {
  readonly nodeId: NodeId
  readonly clusterId: string
  /** Names the data directory: made with it, lost with it. */
  readonly incarnation: string
  /** Rises with every process on this data directory. */
  readonly boot: number
  /** The processes before it on this directory, starting with the last registered one; null or absent: not known. */
  readonly before?: readonly number[] | null
  /** The permanent removal notice that an earlier process on this data directory received. */
  readonly expelled?: Expulsion | null
  /** In force until the log says otherwise. The same on every node. */
  readonly initialConfiguration: Configuration
  readonly heartbeatMs: number
  readonly electionTimeoutMs: number
  /** How far the own clock may be from the majority's; default CLOCK_SKEW_MAX_MS. */
  readonly clockSkewMaxMs?: number
  readonly logKeepEntries: number
  readonly logKeepBytes: number
  /** Kept on disk for members that lag, including what is kept in any case. Bytes. */
  readonly logPinBytes: number
  /** Seeded outside; an unsigned 32-bit integer. */
  readonly random: () => number
  readonly limits?: Partial<NodeLimits>
}

export interface NodeParts {
  readonly clock: Clock
  readonly wal: Wal
  readonly transport: Transport
  readonly stateMachine: StateMachine
  readonly logger: Logger
  /** This process is the registered one of its name. */
  readonly onRegistered?: () => void
  /** The other members permanently refuse this data directory. */
  readonly onExpelled?: (expulsion: Expulsion) => void
  /** The disks of the group; absent: none is known, and there is always space. */
  readonly room?: RoomView
  /** Of the data directory; absent: there is none, and no recovery has happened. */
  readonly epochFloor?: EpochFloor
  /** Of the data directory: entries that an operator ordered to be skipped. Absent: none. */
  readonly skips?: readonly EntrySkip[]
  /** Of the data directory; absent: it cannot go back. */
  readonly diskProof?: DiskProof
  /** Measures single entries for traces. Absent or null: none is measured. */
  readonly entryTimes?: EntryTimes | null
}

/** Ticks between two heartbeats while nothing is written and nothing is asked: the shortest election time-out has room for three. */
export const IDLE_HEARTBEAT_TICKS = 3

/** Ticks in an election time-out. */
export function electionTicksOf({ heartbeatMs, electionTimeoutMs }: NodeOptions): number {
  return Math.max(10, Math.ceil(electionTimeoutMs / heartbeatMs))
}
