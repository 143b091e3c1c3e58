/**
 * Proposals of a node that does not lead: how many calls carry them to the one that does, and which answers count.
 */
import t from 'tap'
import type { ProposalOutcome } from '../../cluster/node/proposals/batcher.ts'
import { DEFAULT_NODE_LIMITS } from '../../cluster/node/base/limits.ts'
import { encodeProposals } from '../../cluster/node/base/log-entry.ts'
import { PROPOSE_METHOD } from '../../cluster/node/proposals/propose-call.ts'
import { Proposals } from '../../cluster/node/proposals/proposals.ts'
import { Condition } from '../../cluster/base/types.ts'
import { command } from '../helpers/memory-state-machine.ts'
import { NodeWorld } from '../helpers/node-world.ts'
import { VirtualClock } from '../programs/simulator/virtual-clock.ts'

const LIMITS = { ...DEFAULT_NODE_LIMITS, batchProposalsMax: 4, forwardsInflightMax: 2 }

/** A leader that answers when the test says so. */
class ForwardBench {
  readonly clock = new VirtualClock()
  /** The sequences of each call. */
  readonly calls: number[][] = []
  readonly #answers: (() => void)[] = []
  term = 1
  unreadable: string | null = null
  hasLeft = false
  readonly proposals = new Proposals({
    clock: this.clock,
    limits: LIMITS,
    session: { nodeId: 'n1', incarnation: 'i1', boot: 1 },
    route: () => ({ term: this.term, leaderId: 'n2', isLeader: false }),
    lacksRoom: () => null,
    unreadable: () => this.unreadable,
    hasLeft: () => this.hasLeft,
    offer: () => {
      throw new Error('This node does not lead')
    },
    forward: (_, proposals) => {
      const sequences = proposals.map(({ sequence }) => sequence)
      this.calls.push(sequences)
      const taken: ProposalOutcome = { accepted: true, term: 1 }
      return new Promise((resolve) => {
        this.#answers.push(() => resolve(new Map(sequences.map((sequence) => [sequence, taken]))))
      })
    },
  })

  async propose(count: number): Promise<void> {
    for (let i = 0; i < count; i++) void this.proposals.propose(new Uint8Array(10))
    await this.clock.settle()
  }

  async answer(): Promise<void> {
    this.#answers.shift()?.()
    await this.clock.settle()
  }
}

t.test('Proposals of a follower', async (t) => {
  t.test('gathers what comes while a call is under way into the next one', async (t) => {
    const bench = new ForwardBench()
    await bench.propose(1)
    await bench.propose(2)
    await bench.propose(1)
    t.strictSame(bench.calls, [[1]])
    await bench.answer()
    t.strictSame(bench.calls, [[1], [2, 3, 4]])
    await bench.answer()
    t.equal(bench.calls.length, 2)
  })

  t.test('sends a second call beside the first when more waits than one can carry', async (t) => {
    const bench = new ForwardBench()
    await bench.propose(1)
    await bench.propose(6)
    t.strictSame(bench.calls, [[1], [2, 3, 4, 5]])
    await bench.propose(6)
    t.equal(bench.calls.length, 2, 'never more calls than the limit')
    await bench.answer()
    t.strictSame(bench.calls.at(-1), [6, 7, 8, 9])
  })

  t.test('that has left keeps nobody waiting', async (t) => {
    const bench = new ForwardBench()
    const asked = bench.proposals.propose(new Uint8Array(10)).catch((error: unknown) => error)
    await bench.clock.settle()
    ;[bench.hasLeft, bench.unreadable] = [true, 'this node was removed']
    bench.proposals.onTick()
    t.match(await asked, { code: /leader_not_ready|commit_unknown/ })
  })

  t.test('asks again when the answer is of a term that is over', async (t) => {
    const bench = new ForwardBench()
    await bench.propose(1)
    bench.term = 2
    bench.proposals.onRoute()
    // The call was answered in term 1, and what was taken then may have been lost with it.
    await bench.answer()
    await bench.clock.advance(LIMITS.retryMaxMs)
    bench.proposals.onTick()
    await bench.clock.settle()
    t.strictSame(bench.calls, [[1], [1]])
  })

  t.test(
    'shutting_down: takes nothing more after it was told to refuse, and finishes what runs',
    async (t) => {
      const bench = new ForwardBench()
      await bench.propose(1)
      bench.proposals.refuse(new Condition('shutting_down', 'This node is stopping'))
      let outcome: unknown = 'taken'
      bench.proposals.propose(new Uint8Array(10)).catch((error: unknown) => (outcome = error))
      await bench.clock.settle()
      t.match(outcome, { code: 'shutting_down' })
      t.equal(bench.proposals.pendingCount, 1)
    },
  )
})

t.test('a leader', async (t) => {
  t.test('bad_request: takes no proposal that a node makes in the name of another', async (t) => {
    const world = await NodeWorld.started()
    const leader = world.leaderOrDie()
    const [asker = '', other = ''] = world.followers
    const { incarnation, boot } = world.seat(other)
    const proposal = { sequence: 100, ackedBelow: 0, command: command('append forged') }
    const body = encodeProposals([{ nodeId: other, incarnation, boot, ...proposal }])
    const { transport } = world.process(asker)
    const outcome = world.run(transport.call(leader, PROPOSE_METHOD, { header: null, body }))
    await t.rejects(outcome, { code: 'bad_request' })
    await world.stopAll()
  })
})
