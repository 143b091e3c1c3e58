/**
 * Readers and the rounds that release them: no round that started before a reader asked releases it, nor before its index is applied.
 */
import t from 'tap'
import { DEFAULT_NODE_LIMITS } from '../../cluster/node/base/limits.ts'
import { ReadBarriers } from '../../cluster/node/reads/read-barriers.ts'
import { VirtualClock } from '../programs/simulator/virtual-clock.ts'

/** A core that answers when the test says so. */
class ReadBench {
  readonly clock = new VirtualClock()
  /** The ids of the rounds, in the order of their requests. */
  readonly asked: number[] = []
  readonly released: string[] = []
  appliedIndex = 10
  unreadable: string | null = null
  hasLeft = false
  readonly reads = new ReadBarriers({
    clock: this.clock,
    limits: DEFAULT_NODE_LIMITS,
    submit: (input) => {
      if (input.type === 'read') this.asked.push(input.readId)
    },
    appliedIndex: () => this.appliedIndex,
    hasLeader: () => true,
    unreadable: () => this.unreadable,
    hasLeft: () => this.hasLeft,
  })

  async read(name: string): Promise<void> {
    void this.reads.barrier().then(() => this.released.push(name))
    await this.clock.settle()
  }

  async ready(round: number, index: number): Promise<void> {
    this.reads.onReady(this.asked[round] ?? 0, index)
    await this.clock.settle()
  }
}

t.test('ReadBarriers', async (t) => {
  t.test('releases no reader by a round that started before it asked', async (t) => {
    const bench = new ReadBench()
    await bench.read('early')
    await bench.read('late')
    t.equal(bench.asked.length, 2)
    await bench.ready(0, 10)
    t.strictSame(bench.released, ['early'])
    await bench.ready(1, 10)
    t.strictSame(bench.released, ['early', 'late'])
  })

  t.test('releases no reader before the index of the round is applied', async (t) => {
    const bench = new ReadBench()
    await bench.read('one')
    await bench.ready(0, 11)
    t.strictSame(bench.released, [])
    bench.appliedIndex = 11
    bench.reads.onApplied()
    await bench.clock.settle()
    t.strictSame(bench.released, ['one'])
  })

  t.test('of a node that has left no reader waits', async (t) => {
    const bench = new ReadBench()
    const read = t.rejects(bench.reads.barrier(), { code: 'leader_not_ready', message: /was removed/ })
    await bench.clock.settle()
    ;[bench.hasLeft, bench.unreadable] = [true, 'this node was removed']
    bench.reads.onTick()
    await read
    t.equal(bench.reads.readerCount, 0)
  })

  t.test('whose round was confirmed in time blames the apply, not the quorum', async (t) => {
    const bench = new ReadBench()
    const behind = t.rejects(bench.reads.barrier(), {
      code: 'slow_down',
      message: /applied 10 of 11 entries/,
    })
    await bench.clock.settle()
    await bench.ready(0, 11)
    const unconfirmed = t.rejects(bench.reads.barrier(), {
      code: 'no_quorum',
      message: /no majority confirmed/,
    })
    await bench.clock.settle()
    await bench.clock.advance(DEFAULT_NODE_LIMITS.readDeadlineMs)
    bench.reads.onTick()
    await Promise.all([behind, unconfirmed])
    t.equal(bench.reads.readerCount, 0)
  })

  t.test('ignores a late answer to a repeated round', async (t) => {
    const bench = new ReadBench()
    await bench.read('one')
    bench.reads.onRefused(bench.asked[0] ?? 0)
    await bench.clock.advance(DEFAULT_NODE_LIMITS.retryMaxMs)
    bench.reads.onTick()
    t.equal(bench.asked.length, 2)
    await bench.ready(0, 10)
    t.strictSame(bench.released, [])
    await bench.ready(1, 10)
    t.strictSame(bench.released, ['one'])
  })
})
