/**
 * The order of a rebuild by itself: the mark first, a bounded number of attempts, and one end.
 */
import t from 'tap'
import { DEFAULT_NODE_LIMITS } from '../../cluster/node/base/limits.ts'
import { StateRebuild } from '../../cluster/node/state/state-rebuild.ts'
import { StateDamagedError } from '../../cluster/base/types.ts'
import { SILENT } from '../helpers/loggers.ts'
import { MemoryState, MemoryStateMachine } from '../helpers/memory-state-machine.ts'
import { VirtualClock } from '../programs/simulator/virtual-clock.ts'

/** A mark takes 10 ms, a round of questions 5 ms. */
class RebuildBench {
  readonly clock = new VirtualClock()
  readonly told: string[] = []
  readonly state = new MemoryState()
  readonly machine = new MemoryStateMachine(this.state, { flush: () => this.#wait(10) })
  failure: Error | null = null
  readonly rebuild = new StateRebuild({
    clock: this.clock,
    stateMachine: this.machine,
    limits: { ...DEFAULT_NODE_LIMITS, rebuildAttemptsMax: 3 },
    logger: SILENT,
    onBegun: () => this.told.push('begun'),
    handOver: () => this.told.push('hand over'),
    pull: async () => {
      this.told.push(this.state.distrusted === null ? 'asked before the mark' : 'asked')
      await this.#wait(5)
      if (this.failure !== null) throw this.failure
      return false
    },
    onReplaced: () => this.told.push('replaced'),
    onGivenUp: ({ message }) => this.told.push(`given up: ${message}`),
  })

  #wait(ms: number): Promise<void> {
    return new Promise((resolve) => void this.clock.after(ms, resolve))
  }
}

t.test('StateRebuild', async (t) => {
  t.test('marks first, asks so often, and gives up with what was wrong', async (t) => {
    const bench = new RebuildBench()
    bench.rebuild.begin(new StateDamagedError('row 7'))
    bench.rebuild.begin(new StateDamagedError('said again'))
    t.strictSame(bench.told, ['begun'])
    t.match(bench.rebuild.reason, /row 7/)
    await bench.clock.advance(60_000)
    const attempt = ['hand over', 'asked']
    t.strictSame(bench.told, ['begun', ...attempt, ...attempt, ...attempt, 'given up: row 7'])
    t.equal(bench.rebuild.count, 1)
  })

  t.test('gives up at once when the mark cannot be made, or when what came is damaged', async (t) => {
    const unmarked = new RebuildBench()
    unmarked.machine.distrust = () => Promise.reject(new Error('EIO'))
    const spoiled = new RebuildBench()
    spoiled.failure = new StateDamagedError('row 8 of the new one')
    for (const { rebuild, clock } of [unmarked, spoiled]) {
      rebuild.begin(new StateDamagedError('row 7'))
      await clock.advance(60_000)
    }
    t.strictSame(unmarked.told, ['begun', 'given up: row 7'])
    t.strictSame(spoiled.told, ['begun', 'hand over', 'asked', 'given up: row 7'])
  })

  t.test('says nothing more once it is closed', async (t) => {
    const bench = new RebuildBench()
    bench.failure = new Error('nobody is there')
    bench.rebuild.begin(new StateDamagedError('row 7'))
    await bench.clock.advance(50)
    bench.rebuild.close()
    await bench.clock.resolve(bench.rebuild.ended(), { limitMs: 100 })
    await bench.clock.advance(60_000)
    t.strictSame(bench.told, ['begun', 'hand over', 'asked'])
  })
})
