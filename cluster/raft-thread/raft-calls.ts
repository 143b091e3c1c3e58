/**
 * What the two halves call across their threads: RaftPort and StatePort as messages.
 *
 * Owns: the names and shapes. Rule: plain data, bytes, numbers of streams and serialized errors only.
 */
import type {
  ApplyBatch,
  ClusterTimeStatus,
  KnownMembers,
  Member,
  MemberStatus,
  MetricSample,
  NewcomerStatus,
  NodeId,
  NodeIdentity,
  OpenedState,
  PeerAddress,
  Place,
  ProposeOptions,
  Readiness,
  StateBlock,
  StateBlockRequest,
} from '../base/types.ts'
import type { EntryReport, EntryWanted } from '../base/peer-traces.ts'
import type { Membership } from '../directory/directory.ts'
import type { Identity } from '../directory/identity.ts'
import type { RaftHalfOptions } from '../raft-half/raft-half.ts'
import type { SerializedError } from './link-errors.ts'

interface Call<Input, Output> {
  readonly input: Input
  readonly output: Output
}

/** A number: of the stream that carries it. */
export type LinkBody = null | Uint8Array | readonly Uint8Array[] | number

/** What the Raft half published last of itself. */
export interface Published {
  readonly members: readonly Member[]
  readonly readiness: Readiness
  readonly isJobRunner: boolean
  /** The majority's time less the monotonic clock, which all threads of the process share. ms */
  readonly timeOffset: number
  readonly time: ClusterTimeStatus
  readonly isJoining: boolean
  readonly identity: NodeIdentity
  readonly ownPlace: Place | null
  readonly stateLevel: number
  /** Null: this node takes no part yet. */
  readonly local: MemberStatus | null
  readonly reserve: { readonly bytes: number; readonly isHeld: boolean }
}

/** What the thread of Raft answers. */
export interface RaftCalls {
  readonly assemble: Call<
    { readonly options: RaftHalfOptions; readonly known: Membership | null },
    { readonly identity: Identity; readonly published: Published }
  >
  readonly open: Call<null, null>
  /** `methods`: those that the half of the state answers. */
  readonly start: Call<{ readonly methods: readonly string[] }, null>
  readonly stop: Call<null, null>
  readonly fail: Call<SerializedError, null>
  readonly propose: Call<{ readonly command: Uint8Array; readonly how: ProposeOptions }, Uint8Array>
  readonly readBarrier: Call<null, null>
  readonly reachesLevel: Call<{ readonly level: number; readonly withinMs: number }, boolean>
  readonly forgetFingerprint: Call<null, null>
  readonly metrics: Call<null, readonly MetricSample[]>
  readonly entryTimes: Call<EntryWanted, EntryReport | null>
  readonly askMember: Call<NodeId, MemberStatus | null>
  readonly memberStatuses: Call<null, readonly (readonly [NodeId, MemberStatus | null])[]>
  readonly newcomer: Call<
    { readonly nodeId: NodeId; readonly address: PeerAddress; readonly isWelcome: boolean },
    NewcomerStatus | string
  >
  readonly change: Call<
    { readonly voters: readonly NodeId[]; readonly learners: readonly NodeId[]; readonly index: number },
    null
  >
  readonly transfer: Call<NodeId | null, null>
  readonly setMembers: Call<{ readonly known: KnownMembers; readonly isJoining: boolean }, null>
  readonly peerCall: Call<
    {
      readonly to: NodeId
      readonly method: string
      readonly header: unknown
      readonly body: LinkBody
      readonly timeoutMs: number | null
    },
    { readonly header: unknown; readonly stream: number; readonly certificate: string | null }
  >
  /** What the state half publishes of itself. */
  readonly publishState: Call<{ readonly downloads: number; readonly scarce: readonly NodeId[] }, null>
  readonly stateDamaged: Call<SerializedError, null>
  /** A block for the install with this number. */
  readonly sourceBlock: Call<{ readonly install: number; readonly request: StateBlockRequest }, StateBlock>
}

/** What the thread of the state answers. */
export interface StateCalls {
  readonly openState: Call<null, { readonly opened: OpenedState; readonly checksum: Uint8Array }>
  readonly apply: Call<
    ApplyBatch,
    { readonly replies: readonly (readonly Uint8Array[])[]; readonly checksum: Uint8Array }
  >
  readonly checkpoint: Call<null, null>
  readonly verify: Call<null, string | null>
  readonly quarantine: Call<string, null>
  readonly snapshot: Call<
    null,
    { readonly cut: number; readonly record: Uint8Array; readonly checksum: Uint8Array }
  >
  readonly cutBlock: Call<{ readonly cut: number; readonly request: StateBlockRequest }, StateBlock>
  readonly cutRelease: Call<number, null>
  readonly install: Call<
    { readonly install: number; readonly record: Uint8Array; readonly checksum: Uint8Array },
    { readonly record: Uint8Array; readonly checksum: Uint8Array }
  >
  readonly closeState: Call<null, null>
  readonly peerServe: Call<
    { readonly from: NodeId; readonly method: string; readonly header: unknown; readonly stream: number },
    { readonly header: unknown; readonly body: LinkBody }
  >
  readonly publishRaft: Call<Published, null>
  readonly serving: Call<null, null>
  readonly failed: Call<SerializedError, null>
  readonly log: Call<LogCall, null>
}

export interface LogCall {
  readonly level: 'fatal' | 'error' | 'warn' | 'info' | 'debug'
  readonly bindings: Readonly<Record<string, unknown>>
  readonly fields: Readonly<Record<string, unknown>>
  /** Fields that are errors. */
  readonly errors: Readonly<Record<string, SerializedError>>
  readonly message: string
}
