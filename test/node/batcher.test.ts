/**
 * Batcher: which proposals share an entry, and when the next entry is made.
 */
import t from 'tap'
import { Batcher } from '../../cluster/node/proposals/batcher.ts'
import type { BatcherIntent, ProposalOutcome } from '../../cluster/node/proposals/intents.ts'
import { DEFAULT_NODE_LIMITS, type NodeLimits } from '../../cluster/node/base/limits.ts'
import { decodeCommandEntry } from '../../cluster/node/base/log-entry.ts'

/** A core that answers each append at once, and a log that is never busy unless the test makes it so. */
class BatcherBench {
  /** The sequences of each entry. */
  readonly entries: number[][] = []
  readonly outcomes: (readonly [number, ProposalOutcome])[] = []
  refuses = false
  #lastSequence = 0
  readonly batcher: Batcher

  constructor(limits: Partial<NodeLimits> = {}) {
    this.batcher = new Batcher({ ...DEFAULT_NODE_LIMITS, ...limits })
  }

  carryOut(intents: readonly BatcherIntent[]): void {
    for (const intent of intents) {
      if (intent.type === 'append') this.#append(intent.id, intent.data)
      if (intent.type !== 'settle') continue
      for (const requester of intent.requesters)
        if (requester.kind === 'own') this.outcomes.push([requester.sequence, intent.outcome])
    }
  }

  seal(): void {
    while (this.batcher.isDue) this.carryOut(this.batcher.seal(5))
  }

  /** In one turn. */
  add(count: number, cost?: number): void {
    for (let i = 0; i < count; i++) {
      const sequence = ++this.#lastSequence
      const session = { nodeId: 'n1', incarnation: 'i1', boot: 1 }
      const command = new Uint8Array(10)
      const proposal = { ...session, sequence, ackedBelow: 0, command, need: 'growth' as const, cost }
      this.carryOut(this.batcher.add(proposal, { kind: 'own', sequence }, null))
    }
    this.seal()
  }

  commit(index: number): void {
    this.batcher.onCommitted(index)
    this.seal()
  }

  #append(id: number, data: Uint8Array): void {
    if (this.refuses) return this.carryOut(this.batcher.onRefused(id, 'notLeader'))
    this.entries.push(decodeCommandEntry(data).proposals.map(({ sequence }) => sequence))
    this.carryOut(this.batcher.onAccepted(id, 1, this.entries.length))
  }
}

t.test('Batcher', async (t) => {
  t.test('makes one entry of the proposals of one turn', async (t) => {
    const bench = new BatcherBench()
    bench.add(3)
    t.strictSame(bench.entries, [[1, 2, 3]])
    t.strictSame(bench.outcomes.at(0), [1, { accepted: true, term: 1 }])
  })

  t.test('gathers proposals until the previous entry is committed', async (t) => {
    const bench = new BatcherBench()
    bench.add(1)
    bench.add(2)
    bench.add(3)
    t.strictSame(bench.entries, [[1]], 'durable only here is not enough')
    bench.commit(1)
    t.strictSame(bench.entries, [[1], [2, 3, 4, 5, 6]])
    bench.commit(2)
    bench.add(1)
    t.strictSame(bench.entries.at(-1), [7], 'an idle log takes the next one at once')
  })

  t.test('waits for the log as well when the others have committed without it', async (t) => {
    const bench = new BatcherBench()
    bench.add(1)
    bench.batcher.onAppend(1)
    bench.add(1)
    bench.commit(1)
    t.equal(bench.entries.length, 1)
    bench.batcher.onDurable(1)
    bench.seal()
    t.strictSame(bench.entries, [[1], [2]])
  })

  t.test('does not wait when a batch is full', async (t) => {
    const bench = new BatcherBench({ batchProposalsMax: 4 })
    bench.add(1)
    bench.add(9)
    t.strictSame(bench.entries, [[1], [2, 3, 4, 5], [6, 7, 8, 9]])
    bench.commit(2)
    t.equal(bench.entries.length, 3, 'the last entry is still in flight')
    bench.commit(3)
    t.strictSame(bench.entries.at(-1), [10])
  })

  t.test('ends a batch where its proposals may change too many rows, and lets the rest wait', async (t) => {
    const bench = new BatcherBench({ batchCostMax: 100 })
    bench.add(1)
    bench.add(5, 40)
    bench.add(1, 1_000)
    bench.add(2, 1)
    t.strictSame(bench.entries, [[1]], 'a costly proposal is no reason to hurry')
    for (let index = 1; index < 6; index++) bench.commit(index)
    t.strictSame(bench.entries, [[1], [2, 3], [4, 5], [6], [7], [8, 9]])
  })

  t.test('estimates the rows of a proposal from its bytes when they are not given', async (t) => {
    const bench = new BatcherBench({ batchCostMax: 50 })
    bench.add(1)
    bench.add(6)
    for (let index = 1; index < 4; index++) bench.commit(index)
    t.strictSame(bench.entries, [[1], [2, 3, 4], [5, 6, 7]])
  })

  t.test('ends the wait for an entry that may never commit when leadership is lost', async (t) => {
    const bench = new BatcherBench()
    bench.add(1)
    bench.add(2)
    bench.refuses = true
    bench.batcher.onLeadershipLost()
    bench.seal()
    t.strictSame(
      bench.outcomes.slice(1),
      [2, 3].map((sequence) => [sequence, { accepted: false, reason: 'notLeader' }]),
    )
    bench.add(1)
    t.strictSame(bench.outcomes.at(-1), [4, { accepted: false, reason: 'notLeader' }])
  })

  t.test('backlogFull: refuses proposals beyond its queue, and none before', async (t) => {
    const bench = new BatcherBench({ batcherQueueMax: 3 })
    bench.batcher.onAppend(1)
    bench.add(5)
    const refused: ProposalOutcome = { accepted: false, reason: 'backlogFull' }
    t.strictSame(bench.outcomes, [
      [4, refused],
      [5, refused],
    ])
  })

  t.test('diskFull: refuses at once for the reason that it is given, and seals nothing', async (t) => {
    const { batcher } = new BatcherBench()
    const session = { nodeId: 'n1', incarnation: 'i1', boot: 1 }
    const proposal = { ...session, sequence: 1, ackedBelow: 0, command: new Uint8Array(1) }
    const requester = { kind: 'own', sequence: 1 } as const
    const outcome = { accepted: false, reason: 'diskFull' }
    const settled = [{ type: 'settle', requesters: [requester], outcome }]
    t.strictSame(batcher.add({ ...proposal, need: 'growth' }, requester, 'diskFull'), settled)
    t.strictSame(batcher.raise(2, requester, { objection: 'diskFull', stamp: 1 }), settled)
    t.strictSame(batcher.stampTime({ objection: 'diskFull', stamp: 1 }), [])
    t.equal(batcher.isDue, false)
  })

  t.test('stamps the time only while no other entry is in flight', async (t) => {
    const bench = new BatcherBench()
    const terms = { objection: null, stamp: 7 }
    bench.carryOut(bench.batcher.stampTime(terms))
    t.strictSame(bench.entries, [[]])
    t.strictSame(bench.batcher.stampTime(terms), [])
  })

  t.test('settles all waiting proposals when it closes, sealed ones first', async (t) => {
    const bench = new BatcherBench()
    bench.add(1)
    bench.batcher.onAppend(1)
    bench.add(1)
    const asked = { kind: 'own', sequence: 9 } as const
    t.match(bench.batcher.raise(2, asked, { objection: null, stamp: 1 }), [{ type: 'append' }])
    bench.carryOut(bench.batcher.close())
    const refused = { accepted: false, reason: 'notLeader' }
    t.strictSame(bench.outcomes.slice(1), [
      [9, refused],
      [2, refused],
    ])
    t.equal(bench.batcher.isDue, false)
  })
})
