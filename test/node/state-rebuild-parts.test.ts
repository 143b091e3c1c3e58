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
  readonly reported: string[] = []
  readonly state = new MemoryState()
  readonly machine = new MemoryStateMachine(this.state, { flush: () => this.#wait(10) })
  failure: Error | null = null
  readonly rebuild = new StateRebuild({
    clock: this.clock,
    stateMachine: this.machine,
    limits: { ...DEFAULT_NODE_LIMITS, rebuildAttemptsMax: 3 },
    logger: SILENT,
    onStarted: () => this.reported.push('started'),
    handOver: () => this.reported.push('hand over'),
    pull: async () => {
      this.reported.push(this.state.quarantined === null ? 'asked before the mark' : 'asked')
      await this.#wait(5)
      if (this.failure !== null) throw this.failure
      return false
    },
    onReplaced: () => this.reported.push('replaced'),
    onGivenUp: ({ message }) => this.reported.push(`given up: ${message}`),
  })

  #wait(ms: number): Promise<void> {
    return new Promise((resolve) => void this.clock.after(ms, resolve))
  }
}

t.test('StateRebuild', async (t) => {
  t.test('marks first, asks a bounded number of times, and gives up with the reason', async (t) => {
    const bench = new RebuildBench()
    bench.rebuild.begin(new StateDamagedError('row 7'))
    bench.rebuild.begin(new StateDamagedError('reported again'))
    t.strictSame(bench.reported, ['started'])
    t.match(bench.rebuild.reason, /row 7/)
    await bench.clock.advance(60_000)
    const attempt = ['hand over', 'asked']
    t.strictSame(bench.reported, ['started', ...attempt, ...attempt, ...attempt, 'given up: row 7'])
    t.equal(bench.rebuild.count, 1)
  })

  t.test(
    'gives up at once when the mark cannot be written, or when the received state is damaged',
    async (t) => {
      const unmarked = new RebuildBench()
      unmarked.machine.quarantine = () => Promise.reject(new Error('EIO'))
      const spoiled = new RebuildBench()
      spoiled.failure = new StateDamagedError('row 8 of the new one')
      for (const { rebuild, clock } of [unmarked, spoiled]) {
        rebuild.begin(new StateDamagedError('row 7'))
        await clock.advance(60_000)
      }
      t.strictSame(unmarked.reported, ['started', 'given up: row 7'])
      t.strictSame(spoiled.reported, ['started', 'hand over', 'asked', 'given up: row 7'])
    },
  )

  t.test('reports nothing more once it is closed', async (t) => {
    const bench = new RebuildBench()
    bench.failure = new Error('no node is there')
    bench.rebuild.begin(new StateDamagedError('row 7'))
    await bench.clock.advance(50)
    bench.rebuild.close()
    await bench.clock.resolve(bench.rebuild.ended(), { limitMs: 100 })
    await bench.clock.advance(60_000)
    t.strictSame(bench.reported, ['started', 'hand over', 'asked'])
  })
})
