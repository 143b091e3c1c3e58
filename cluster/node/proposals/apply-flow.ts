/**
 * Whether states are so far behind the commit index that a leader must take nothing new.
 *
 * Owns: which voters count, and the bounds. Knows nothing of: proposals. Rule: a voter that answers without its applied index (an older
 * version) delays nothing; a silent voter counts as one that has applied nothing, because it contributes to no majority.
 */
import { quorumIndex } from '../../raft/quorum.ts'
import type { LogIndex, NodeId } from '../../raft/types.ts'
import type { CoreLoop } from '../base/core-loop.ts'
import type { NodeLimits } from '../base/limits.ts'
import type { ProposalRefusal } from './intents.ts'
import type { PeerGate } from '../peers/peer-gate.ts'

export interface ApplyFlowParts {
  readonly self: NodeId
  readonly limits: NodeLimits
  readonly loop: Pick<CoreLoop, 'configuration' | 'commitIndex' | 'silentTicksOf' | 'unapplied'>
  /** Of the state here. */
  readonly applier: { readonly appliedIndex: LogIndex }
  readonly gate: Pick<PeerGate, 'appliedOf'>
  /** Ticks without a message after which a voter is silent. Count. */
  readonly silentTicksMax: number
}

export class ApplyFlow {
  readonly #parts: ApplyFlowParts

  constructor(parts: ApplyFlowParts) {
    this.#parts = parts
  }

  /** Why a leader takes no proposal of any node now; null when it does. */
  get objection(): ProposalRefusal | null {
    return this.#isBehind ? 'backlogFull' : null
  }

  /** The state here, or those of a majority of the voters. */
  get #isBehind(): boolean {
    const { limits, applier, loop } = this.#parts
    const own = loop.unapplied(applier.appliedIndex)
    if (own.entries > limits.unappliedEntriesMax || own.bytes > limits.unappliedBytesMax) return true
    const { entries, bytes } = loop.unapplied(this.#appliedByMajority())
    return entries > limits.voterBacklogEntriesMax || bytes > limits.voterBacklogBytesMax
  }

  #appliedByMajority(): LogIndex {
    const { self, loop, applier, gate, silentTicksMax } = this.#parts
    return quorumIndex(loop.configuration, (nodeId) => {
      if (nodeId === self) return applier.appliedIndex
      if ((loop.silentTicksOf(nodeId) ?? Number.POSITIVE_INFINITY) > silentTicksMax) return 0
      return gate.appliedOf(nodeId) ?? loop.commitIndex
    })
  }
}
