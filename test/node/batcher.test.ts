/**
 * Batcher: which proposals share an entry, and when the next entry is made.
 */
import t from 'tap'
import { Batcher, type ProposalOutcome } from '../../cluster/node/proposals/batcher.ts'
import { DEFAULT_NODE_LIMITS, type NodeLimits } from '../../cluster/node/base/limits.ts'
import { decodeCommandEntry } from '../../cluster/node/base/log-entry.ts'
import { VirtualClock } from '../programs/simulator/virtual-clock.ts'

/** A batcher over a core that appends each entry at once and tells nobody. */
class BatcherBench {
  readonly clock = new VirtualClock()
  /** The sequences of each entry. */
  readonly entries: number[][] = []
  readonly outcomes: (readonly [number, ProposalOutcome])[] = []
  isLogBusy = false
  refuses = false
  #lastSequence = 0
  readonly batcher: Batcher

  constructor(limits: Partial<NodeLimits> = {}) {
    this.batcher = new Batcher({
      stamp: () => this.clock.wallTime(),
      limits: { ...DEFAULT_NODE_LIMITS, ...limits },
      isLogBusy: () => this.isLogBusy,
      objection: () => null,
      submit: (input) => {
        if (input.type !== 'propose') throw new Error(`The batcher submits ${input.type}`)
        if (this.refuses) return this.batcher.onRefused(input.proposalId, 'notLeader')
        this.entries.push(decodeCommandEntry(input.data).proposals.map(({ sequence }) => sequence))
        this.batcher.onAccepted(input.proposalId, 1, this.entries.length)
      },
    })
  }

  async add(count: number, cost?: number): Promise<void> {
    for (let i = 0; i < count; i++) {
      const sequence = ++this.#lastSequence
      const session = { nodeId: 'n1', incarnation: 'i1', boot: 1 }
      const proposal = {
        ...session,
        sequence,
        ackedBelow: 0,
        command: new Uint8Array(10),
        need: 'growth' as const,
        cost,
      }
      this.batcher.add(proposal, (outcome) => void this.outcomes.push([sequence, outcome]))
    }
    await this.clock.settle()
  }
}

t.test('Batcher', async (t) => {
  t.test('makes one entry of what is proposed in one turn', async (t) => {
    const bench = new BatcherBench()
    await bench.add(3)
    t.strictSame(bench.entries, [[1, 2, 3]])
    t.strictSame(bench.outcomes.at(0), [1, { accepted: true, term: 1 }])
  })

  t.test('gathers what comes until the entry before is committed', async (t) => {
    const bench = new BatcherBench()
    await bench.add(1)
    await bench.add(2)
    await bench.add(3)
    bench.batcher.flush()
    t.strictSame(bench.entries, [[1]], 'durable here alone is not enough')
    bench.batcher.onCommitted(1)
    t.strictSame(bench.entries, [[1], [2, 3, 4, 5, 6]])
    bench.batcher.onCommitted(2)
    await bench.add(1)
    t.strictSame(bench.entries.at(-1), [7], 'an idle log takes the next one at once')
  })

  t.test('waits for the log as well when the others have committed without it', async (t) => {
    const bench = new BatcherBench()
    await bench.add(1)
    bench.isLogBusy = true
    await bench.add(1)
    bench.batcher.onCommitted(1)
    t.equal(bench.entries.length, 1)
    bench.isLogBusy = false
    bench.batcher.flush()
    t.strictSame(bench.entries, [[1], [2]])
  })

  t.test('does not wait when a batch is full', async (t) => {
    const bench = new BatcherBench({ batchProposalsMax: 4 })
    await bench.add(1)
    await bench.add(9)
    t.strictSame(bench.entries, [[1], [2, 3, 4, 5], [6, 7, 8, 9]])
    bench.batcher.onCommitted(2)
    t.equal(bench.entries.length, 3, 'the last entry is still under way')
    bench.batcher.onCommitted(3)
    t.strictSame(bench.entries.at(-1), [10])
  })

  t.test('ends a batch where its proposals may change too many rows, and lets the rest wait', async (t) => {
    const bench = new BatcherBench({ batchCostMax: 100 })
    await bench.add(1)
    await bench.add(5, 40)
    await bench.add(1, 1_000)
    await bench.add(2, 1)
    t.strictSame(bench.entries, [[1]], 'what is costly is no reason to hurry')
    for (let index = 1; index < 6; index++) bench.batcher.onCommitted(index)
    t.strictSame(bench.entries, [[1], [2, 3], [4, 5], [6], [7], [8, 9]])
  })

  t.test('guesses the rows of a proposal from its bytes when nobody has said them', async (t) => {
    const bench = new BatcherBench({ batchCostMax: 50 })
    await bench.add(1)
    await bench.add(6)
    for (let index = 1; index < 4; index++) bench.batcher.onCommitted(index)
    t.strictSame(bench.entries, [[1], [2, 3, 4], [5, 6, 7]])
  })

  t.test('lets nobody wait for an entry that may never commit when leadership is lost', async (t) => {
    const bench = new BatcherBench()
    await bench.add(1)
    await bench.add(2)
    bench.refuses = true
    bench.batcher.onLeadershipLost()
    t.strictSame(
      bench.outcomes.slice(1),
      [2, 3].map((sequence) => [sequence, { accepted: false, reason: 'notLeader' }]),
    )
    await bench.add(1)
    t.strictSame(bench.outcomes.at(-1), [4, { accepted: false, reason: 'notLeader' }])
  })

  t.test('backlogFull: refuses what is beyond its queue, and nothing before that', async (t) => {
    const bench = new BatcherBench({ batcherQueueMax: 3 })
    bench.isLogBusy = true
    await bench.add(5)
    const refused: ProposalOutcome = { accepted: false, reason: 'backlogFull' }
    t.strictSame(bench.outcomes, [
      [4, refused],
      [5, refused],
    ])
  })
})
