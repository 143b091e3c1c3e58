/** A ProposalPath over a core that takes each entry at once, and commits when the test says so; with `turn`, over a transport whose turns have an end. */
import type { Input } from '../../cluster/raft/types.ts'
import { decodeCommandEntry } from '../../cluster/node/base/log-entry.ts'
import { DEFAULT_NODE_LIMITS, type NodeLimits } from '../../cluster/node/base/limits.ts'
import type { LeaderView } from '../../cluster/node/base/leader-view.ts'
import type { ProposalRefusal } from '../../cluster/node/proposals/intents.ts'
import { ProposalPath } from '../../cluster/node/proposals/proposal-path.ts'
import type { TurnEnd } from '../../cluster/transport/turn-end.ts'
import { SILENT } from '../helpers/loggers.ts'
import { VirtualClock } from '../programs/simulator/virtual-clock.ts'

export class PathBench {
  /** The sequences of each entry. */
  readonly entries: number[][] = []
  readonly clock = new VirtualClock()
  readonly room = { full: null as string | null, refusal: (): string | null => this.room.full }
  readonly flow = { objection: null as ProposalRefusal | null }
  readonly path: ProposalPath

  constructor(limits: Partial<NodeLimits> = {}, turn: TurnEnd | null = null) {
    const leaderView: LeaderView = { term: 7, leaderId: 'n1', isLeader: true }
    this.path = new ProposalPath({
      clock: this.clock,
      limits: { ...DEFAULT_NODE_LIMITS, ...limits },
      session: { nodeId: 'n1', incarnation: 'i1', boot: 1 },
      leaderView,
      loop: { submit: (input) => this.#append(input) },
      gate: { removalNotice: null, onRefused: () => undefined },
      clocks: { stamp: () => 1 },
      room: this.room,
      flow: this.flow,
      rebuild: { reason: null },
      transport: { call: () => Promise.reject(new Error('There is no other node')) },
      logger: SILENT,
      atTurnEnd: turn === null ? undefined : (work) => turn.decide(work),
    })
  }

  commit(): void {
    this.path.onCommitted(this.entries.length)
  }

  #append(input: Input): void {
    if (input.type !== 'propose') throw new Error(`The path submits ${input.type}`)
    this.entries.push(decodeCommandEntry(input.data).proposals.map(({ sequence }) => sequence))
    this.path.onAccepted(input.proposalId, 7, this.entries.length)
  }
}
