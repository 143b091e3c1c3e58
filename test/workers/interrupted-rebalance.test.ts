/**
 * A rebalance interrupted at each effect of its driver: it ends with every copy where it should be and each counted once, or, given up,
 * with nothing open and no copy fewer.
 */
import t, { type Test } from 'tap'
import { Condition } from '../../cluster/index.ts'
import type { Command } from '../../src/state-machine/commands.ts'
import type { LongOperation } from '../../src/state-machine/long-operations/records.ts'
import { createCopyLedger } from '../../src/store/ledger/copy-ledger.ts'
import { Rebalancing } from '../../src/workers/rebalancing.ts'
import { SILENT } from '../helpers/loggers.ts'
import { fresh, putChunks, startOperation } from '../state-machine/map-world.ts'
import { StoreWorld } from '../store/store-world.ts'
import { chunkRanges } from '../../src/state-machine/chunks/keys.ts'
import { longOperationKeys } from '../../src/state-machine/long-operations/keys.ts'

/** The driver dies before or after it; or it arrives when the next driver is an effect further. */
const INTERRUPTIONS = ['before', 'after', 'late'] as const

interface Cell {
  /** The number of the effect; 0: none. */
  readonly at: number
  readonly how: (typeof INTERRUPTIONS)[number]
  /** Where copies are to go. */
  readonly isTargetGone: boolean
}

const CHUNKS = 7
/** At which a batch has three of them. */
const BYTES_PER_SECOND = 16
const ROUNDS_MAX = 20
const isOpen = ({ status, progress }: LongOperation): boolean =>
  status === 'queued' || status === 'running' || progress.tasksOpen > 0

class Bench {
  readonly world: StoreWorld
  readonly cell: Cell
  effects = 0
  #late: Command | null = null
  #now = 0
  #driver: Rebalancing

  private constructor(world: StoreWorld, cell: Cell) {
    this.world = world
    this.cell = cell
    this.#driver = this.#next()
  }

  static async start(t: Test, cell: Cell): Promise<Bench> {
    const bench = new Bench(await StoreWorld.withBucket(t), cell)
    const chunks = Array.from({ length: CHUNKS }, (_, n) => fresh(`c${n}`))
    await bench.world.do(putChunks('k', chunks))
    const asked = { tenantId: 'acme', maxBytesPerSecond: BYTES_PER_SECOND }
    await bench.world.do({ ...startOperation('op1'), ...asked })
    return bench
  }

  get operation(): LongOperation {
    const found = this.world.store.reader.get(longOperationKeys.operation('op1'))
    if (found === undefined) throw new Error('there is no operation')
    return found
  }

  async untilEnded(): Promise<void> {
    for (let n = 0; n < ROUNDS_MAX && isOpen(this.operation); n++) {
      const round = async (): Promise<boolean> => this.#driver.round()
      while (await round().catch(() => false));
      if (!this.cell.isTargetGone) await this.#makeCopies()
      this.#now += 10_000
    }
  }

  async chunks(): Promise<readonly string[]> {
    const { items } = await this.world.store.reader.page(chunkRanges.chunks(), { limit: 100 })
    return items.map(({ replicas, owed }) => `${[...replicas].sort().join(' ')} | ${owed.join(' ')}`)
  }

  #next(): Rebalancing {
    const propose = (async (command: Command) => this.#effect(command)) as StoreWorld['propose']
    return new Rebalancing({
      cluster: { isJobRunner: () => true, placement: () => ['n2', 'n3'] },
      state: this.world.store.reader,
      propose,
      now: () => this.#now,
      logger: SILENT,
    })
  }

  async #effect(command: Command): Promise<unknown> {
    this.effects++
    const { at, how } = this.cell
    if (this.effects === at) {
      if (how === 'after') await this.world.apply([command])
      if (how === 'late') this.#late = command
      this.#driver = this.#next()
      throw new Condition('commit_unknown', 'the driver is gone')
    }
    const [reply] = await this.world.apply([command])
    if (this.#late !== null) await this.world.apply([this.#late])
    this.#late = null
    return reply
  }

  async #makeCopies(): Promise<void> {
    const ledger = createCopyLedger(this.world.store.reader, this.world.propose, this.world.levels)
    for (const { ref, permit } of ledger.pending('n3', 100)) {
      const copy = { tenantId: 'acme', chunkId: ref.id as string, birth: ref.birth, node: 'n3', permit }
      await this.world.do({ type: 'addReplica', ...copy })
    }
  }
}

t.test('a rebalance, interrupted', async (t) => {
  const plain = await Bench.start(t, { at: 0, how: 'before', isTargetGone: false })
  await plain.untilEnded()
  t.equal(plain.operation.status, 'succeeded')

  for (const how of INTERRUPTIONS)
    t.test(
      `${how} each of ${plain.effects} effects: every copy is moved, and counted as made once`,
      async (t) => {
        for (let at = 1; at <= plain.effects; at++) {
          const bench = await Bench.start(t, { at, how, isTargetGone: false })
          await bench.untilEnded()
          const { status, progress } = bench.operation
          t.equal(status, 'succeeded', `at effect ${at}`)
          t.match(progress, { blobsTotal: CHUNKS, blobsDone: CHUNKS, tasksOpen: 0 })
          t.same(new Set(await bench.chunks()), new Set(['n2 n3 | ']))
        }
      },
    )

  for (const how of INTERRUPTIONS)
    t.test(`${how} each effect, while the target is gone: given up, nothing is open`, async (t) => {
      for (let at = 1; at <= plain.effects; at++) {
        const bench = await Bench.start(t, { at, how, isTargetGone: true })
        await bench.untilEnded()
        t.equal(bench.operation.status, 'running', 'it waits for the copies')
        await bench.world.do({
          type: 'setOperationStatus',
          operationId: 'op1',
          action: 'cancel',
          error: null,
        })
        await bench.untilEnded()
        t.match(bench.operation, { status: 'cancelled', progress: { tasksOpen: 0 } })
        t.same(new Set(await bench.chunks()), new Set(['n1 n2 | ']), 'no copy fewer')
      }
    })
})
