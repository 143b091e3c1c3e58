/**
 * What a node is made of: values and ports, so that the same node runs on real disks and in a virtual world.
 */
import type { Configuration, NodeId } from '../raft/types.ts'
import type { Transport } from '../transport/transport.ts'
import type { Logger, StateMachine } from '../types.ts'
import type { Wal } from '../wal/wal.ts'
import type { Clock } from './clock.ts'
import type { EpochFloor } from './epoch-floor.ts'
import type { Expulsion } from './expulsion.ts'
import type { NodeLimits } from './limits.ts'

export interface NodeOptions {
  readonly nodeId: NodeId
  readonly clusterId: string
  /** Names the data directory: made with it, lost with it. */
  readonly incarnation: string
  /** Rises with every process on this data directory. */
  readonly boot: number
  /** The processes before it on this directory, from the last one that was registered on; null or absent: not known. */
  readonly before?: readonly number[] | null
  /** What an earlier process on this data directory was told for ever. */
  readonly expelled?: Expulsion | null
  /** In force until the log says otherwise. The same on every node. */
  readonly initialConfiguration: Configuration
  readonly heartbeatMs: number
  readonly electionTimeoutMs: number
  readonly logKeepEntries: number
  readonly logKeepBytes: number
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
  /** The others do not hear this data directory any more, for ever. */
  readonly onExpelled?: (expulsion: Expulsion) => void
  /** Of the data directory; absent: there is none, and no recovery was ever seen. */
  readonly epochFloor?: EpochFloor
}
