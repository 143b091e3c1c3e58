/**
 * Whether states are so far behind what is committed that a leader must take nothing new.
 *
 * Owns: whose word counts, and the bounds. Knows nothing of: proposals. Rule: a voter that is heard and does not say how far it is (an
 * older version) holds nobody back; one that is silent counts as one that has applied nothing, for it helps nobody.
 */
import { quorumIndex } from '../../raft/quorum.ts'
import type { LogIndex, RaftStatus } from '../../raft/types.ts'
import type { ProposalRefusal } from './batcher.ts'
import type { NodeLimits } from '../base/limits.ts'
import type { PeerGate } from '../peers/peer-gate.ts'

export interface ApplyFlowParts {
  readonly limits: NodeLimits
  readonly status: () => RaftStatus
  /** Of the state here. */
  readonly appliedIndex: () => LogIndex
  readonly gate: Pick<PeerGate, 'appliedOf'>
  /** What is committed after an index. Count and bytes. */
  readonly committedAfter: (index: LogIndex) => { readonly entries: number; readonly bytes: number }
  /** Ticks without a message after which a voter is silent. Count. */
  readonly silentTicksMax: number
}

export class ApplyFlow {
  readonly #parts: ApplyFlowParts

  constructor(parts: ApplyFlowParts) {
    this.#parts = parts
  }

  /** Why a leader takes no proposal of anybody now; null when it does. */
  get objection(): ProposalRefusal | null {
    return this.#isBehind ? 'backlogFull' : null
  }

  /** The state here, or those of a majority of the voters. */
  get #isBehind(): boolean {
    const { limits, appliedIndex, committedAfter } = this.#parts
    const own = committedAfter(appliedIndex())
    if (own.entries > limits.unappliedEntriesMax || own.bytes > limits.unappliedBytesMax) return true
    const { entries, bytes } = committedAfter(this.#appliedByMajority())
    return entries > limits.voterBacklogEntriesMax || bytes > limits.voterBacklogBytesMax
  }

  #appliedByMajority(): LogIndex {
    const { status, appliedIndex, gate, silentTicksMax } = this.#parts
    const { nodeId: self, commitIndex, configuration, peers } = status()
    const silence = new Map(peers.map(({ nodeId, silentTicks }) => [nodeId, silentTicks]))
    return quorumIndex(configuration, (nodeId) => {
      if (nodeId === self) return appliedIndex()
      if ((silence.get(nodeId) ?? Number.POSITIVE_INFINITY) > silentTicksMax) return 0
      return gate.appliedOf(nodeId) ?? commitIndex
    })
  }
}
