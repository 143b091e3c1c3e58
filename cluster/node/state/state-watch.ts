/**
 * Notices that the state of this leader takes nothing more while others apply what it has committed.
 *
 * Owns: since when entries wait for it. Knows nothing of: rows, threads. Rule: a leader whose state takes no batch for an election
 * time-out while entries wait offers the lead to a voter whose state is further; where no state is further the lead stays. A pause of the
 * process is no stall. [docs/adr/0074]
 */
import type { LogIndex, NodeId } from '../../raft/types.ts'
import type { Logger } from '../../base/types.ts'
import type { Clock } from '../../base/clock.ts'

export interface StateWatchParts {
  readonly clock: Clock
  readonly logger: Logger
  readonly electionTimeoutMs: number
  readonly isLeader: () => boolean
  readonly appliedIndex: () => LogIndex
  readonly commitIndex: () => LogIndex
  /** The other voters that are not silent, with the last entry that each has applied; null: it does not say. */
  readonly others: () => readonly { readonly nodeId: NodeId; readonly applied: LogIndex | null }[]
  /** If this node leads. */
  readonly offerLead: (target: NodeId) => void
}

export class StateWatch {
  readonly #parts: StateWatchParts
  #applied: LogIndex = 0
  /** Since when nothing was applied although entries wait. ms */
  #since = 0
  #nextOffer = 0
  /** How often the lead was offered for this since the start. Count. */
  offers = 0

  constructor(parts: StateWatchParts) {
    this.#parts = parts
  }

  onTick(kind: 'tick' | 'tickGap'): void {
    const { clock, electionTimeoutMs, isLeader, appliedIndex, commitIndex } = this.#parts
    const now = clock.now()
    const applied = appliedIndex()
    if (kind === 'tickGap' || applied >= commitIndex() || applied !== this.#applied) {
      this.#applied = applied
      this.#since = now
    } else if (isLeader() && now - this.#since >= electionTimeoutMs && now >= this.#nextOffer) {
      this.#offer(applied, now)
    }
  }

  /** A transfer that fails is over after one election time-out. */
  #offer(applied: LogIndex, now: number): void {
    const { electionTimeoutMs, others, logger, offerLead } = this.#parts
    let target: { readonly nodeId: NodeId; readonly applied: LogIndex } | null = null
    for (const { nodeId, applied: index } of others())
      if (index !== null && index > (target?.applied ?? applied)) target = { nodeId, applied: index }
    if (target === null) return
    this.#nextOffer = now + electionTimeoutMs
    this.offers += 1
    logger.warn(
      { stalledMs: Math.round(now - this.#since), applied, target: target.nodeId },
      'state of this leader takes nothing, lead offered',
    )
    offerLead(target.nodeId)
  }
}
