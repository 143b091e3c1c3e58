/**
 * The port between the two halves of the machine: Raft with its log, its timers and its peers, and the state with its blobs.
 *
 * Owns: what crosses. Knows nothing of: whether the halves share a thread. Rules: only plain data, bytes, streams of bytes and errors
 * cross, and what is asked without a promise is answered from what the other half published. The state never holds Raft up: Raft does not wait
 * for an answer of the state before it votes, acknowledges or sends a heartbeat. [docs/adr/0067, docs/adr/0072]
 */
import type { EntryReport, EntryWanted } from '../base/peer-traces.ts'
import type { Cluster, Logger, Member, NodeId, StateMachine } from '../base/types.ts'
import type { Identity } from '../directory/identity.ts'
import type { PeerCalls } from '../transport/transport.ts'

/** What the half of the state asks of Raft. */
export interface RaftPort
  extends Pick<
    Cluster,
    | 'propose'
    | 'readBarrier'
    | 'reachesLevel'
    | 'time'
    | 'membership'
    | 'readiness'
    | 'isJobRunner'
    | 'metrics'
    | 'forgetFingerprint'
    | 'failed'
  > {
  readonly identity: Identity
  /** Always the present members: a live view. */
  readonly members: readonly Member[]
  /** Of blobs, repair and gossip. Handlers are set before `start`. */
  readonly transport: PeerCalls
  /** Resolves when the node takes part: at once, or after log repair. Never rejects. */
  readonly serving: Promise<void>
  /** Reads log and state; nothing is sent yet. Throws StartError. */
  open(): Promise<void>
  /** Resolves when peers can reach this node. Throws StartError. */
  start(): Promise<void>
  /** What this node measured of an entry; null: nothing, or nothing any more. */
  entryTimes(wanted: EntryWanted): Promise<EntryReport | null>
  /** Makes the node mute permanently: a part of the state found that its data cannot be trusted. Idempotent. */
  fail(error: Error): void
  /** The free bytes of a disk of this size that belong to the reserve of the log. */
  heldBackBytes(totalBytes: number): number
  /** Hands leadership over, finishes the proposals under way, closes log and state. Idempotent. */
  stop(): Promise<void>
}

/** What Raft asks of the half of the state. */
export interface StatePort {
  readonly stateMachine: StateMachine
  readonly logger: Logger
  /** Downloads that this node serves now. */
  downloads(): number
  /** That node reported lately that its disk stores nothing new. */
  isScarceAt(peer: NodeId): boolean
}
