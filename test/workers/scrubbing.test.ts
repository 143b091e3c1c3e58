/** Scrubs on demand over a real store: two nodes whose scrubs the test advances. */
import t from 'tap'
import type { RepairStatus, ScrubDemand } from '../../cluster/index.ts'
import { REPORT_EVERY_MS, Scrubbing } from '../../src/workers/scrubbing.ts'
import { SILENT } from '../helpers/loggers.ts'
import { QUIET_REPAIR } from '../helpers/disk-samples.ts'
import { startOperation } from '../state-machine/map-world.ts'
import { StoreWorld, type Teardown } from '../store/store-world.ts'
import { longOperationKeys } from '../../src/state-machine/long-operations/keys.ts'

/** A node as its worker sees it. */
class Seat {
  readonly nodeId: string
  wanted: string | null = null
  demand: ScrubDemand | null = null
  scrubbing: Scrubbing
  readonly #bench: Bench

  constructor(nodeId: string, bench: Bench) {
    this.nodeId = nodeId
    this.#bench = bench
    this.scrubbing = this.restarted()
  }

  restarted(): Scrubbing {
    return new Scrubbing({
      cluster: {
        nodeId: this.nodeId,
        demandScrub: (word) => void (this.wanted = word),
        repairStatus: (): RepairStatus => {
          return { ...QUIET_REPAIR, scrub: { ...QUIET_REPAIR.scrub, demand: this.demand } }
        },
      },
      state: this.#bench.world.store.reader,
      propose: this.#bench.world.propose,
      now: () => this.#bench.now,
      logger: SILENT,
    })
  }

  stand(copies: number, isDone = false): void {
    const word = this.wanted ?? ''
    this.demand = { word, isDone, progress: isDone ? 1 : 0.5, copies, bytes: copies * 10, lost: 0 }
  }
}

class Bench {
  readonly world: StoreWorld
  now = 0
  readonly seats: readonly [Seat, Seat]

  private constructor(world: StoreWorld) {
    this.world = world
    this.seats = [new Seat('n1', this), new Seat('n2', this)]
  }

  static async start(t: Teardown): Promise<Bench> {
    return new Bench(await StoreWorld.open(t))
  }

  async begin(operationId: string, nodes: readonly string[] = ['n1', 'n2']): Promise<void> {
    await this.world.do({ ...startOperation(operationId), kind: 'scrub', nodes })
  }

  async act(operationId: string, action: 'pause' | 'resume' | 'cancel'): Promise<void> {
    await this.world.do({ type: 'setOperationStatus', operationId, action, error: null })
  }

  async round(): Promise<void> {
    for (const { scrubbing } of this.seats) await scrubbing.round()
  }

  operation(id: string) {
    return this.world.store.reader.get(longOperationKeys.operation(id))
  }
}

t.test('Scrubbing', async (t) => {
  t.test('has every node do its part and tells what came of it', async (t) => {
    const bench = await Bench.start(t)
    const [n1, n2] = bench.seats
    await bench.begin('op1')
    await bench.round()
    t.same([n1.wanted, n2.wanted], ['op1', 'op1'])
    t.match(bench.operation('op1'), { status: 'queued' }, 'no node has started')
    n1.stand(3)
    n2.stand(5, true)
    await bench.round()
    t.match(bench.operation('op1'), { status: 'running', progress: { blobsDone: 8 } })
    await bench.round()
    t.same([n1.wanted, n2.wanted], ['op1', null], 'who is done is asked no more')
    n1.stand(4, true)
    await bench.round()
    t.match(bench.operation('op1'), { status: 'succeeded', progress: { blobsDone: 9, bytesMoved: 90 } })
    await bench.round()
    t.same([n1.wanted, n2.wanted], [null, null])
  })

  t.test('reports at intervals, not at every round, and continues over a restart', async (t) => {
    const bench = await Bench.start(t)
    const [n1] = bench.seats
    await bench.begin('op1')
    await bench.round()
    n1.stand(1)
    await bench.round()
    const before = bench.world.index
    n1.stand(2)
    bench.now = REPORT_EVERY_MS - 1
    await bench.round()
    t.equal(bench.world.index, before)
    bench.now = REPORT_EVERY_MS
    await bench.round()
    t.match(bench.operation('op1'), { progress: { blobsDone: 2 } })
    n1.scrubbing = n1.restarted()
    n1.demand = null
    await bench.round()
    t.match(bench.operation('op1'), { progress: { blobsDone: 2 } }, 'nothing is reported before it is known')
    n1.stand(3)
    await bench.round()
    t.match(bench.operation('op1'), { progress: { blobsDone: 3 } })
  })

  t.test('keeps a result of another scrub to itself', async (t) => {
    const bench = await Bench.start(t)
    await bench.begin('op1')
    await bench.round()
    const [n1] = bench.seats
    n1.stand(9, true)
    await bench.act('op1', 'cancel')
    await bench.begin('op2')
    await bench.round()
    t.match(bench.operation('op2'), { status: 'queued' })
    t.equal(n1.wanted, 'op2')
  })

  t.test('asks for nothing while it is paused, one at a time, and only of whose part it is', async (t) => {
    const bench = await Bench.start(t)
    const [n1, n2] = bench.seats
    await bench.begin('op1', ['n2'])
    await bench.begin('op2')
    await bench.round()
    t.same([n1.wanted, n2.wanted], ['op2', 'op1'])
    await bench.act('op1', 'pause')
    await bench.act('op2', 'pause')
    await bench.round()
    t.same([n1.wanted, n2.wanted], [null, null])
    await bench.act('op1', 'resume')
    await bench.round()
    t.same([n1.wanted, n2.wanted], [null, 'op1'])
  })
})
