/** Rebalancing over a real store: two drivers, copies made by the test, a clock that the test moves. */
import t from 'tap'
import type { LongOperation } from '../../src/state-machine/long-operations/records.ts'
import type { Command } from '../../src/state-machine/commands.ts'
import { createCopyLedger } from '../../src/store/ledger/copy-ledger.ts'
import { Rebalancing } from '../../src/workers/rebalancing.ts'
import { SILENT } from '../helpers/loggers.ts'
import { fresh, putChunks } from '../state-machine/map-world.ts'
import { StoreWorld, type Teardown } from '../store/store-world.ts'
import { chunkKeys, chunkRanges } from '../../src/state-machine/chunks/keys.ts'
import { longOperationKeys } from '../../src/state-machine/long-operations/keys.ts'

type Start = Extract<Command, { type: 'startOperation' }>
type Action = Extract<Command, { type: 'setOperationStatus' }>['action']

/** All chunks lie on n1 and n2, and should lie on n2 and n3. */
class Bench {
  readonly world: StoreWorld
  now = 0
  jobRunner = true
  wanted: readonly string[] = ['n2', 'n3']
  /** Runs before each proposal of a driver. */
  beforePropose: (command: Command) => Promise<void> = async () => undefined
  readonly drivers: readonly [Rebalancing, Rebalancing]

  private constructor(world: StoreWorld) {
    this.world = world
    this.drivers = [this.#driver(), this.#driver()]
  }

  static async start(t: Teardown, chunks: number): Promise<Bench> {
    const bench = new Bench(await StoreWorld.withBucket(t))
    const ids = Array.from({ length: chunks }, (_, n) => `c${String(n).padStart(4, '0')}`)
    if (chunks > 0)
      await bench.world.do(
        putChunks(
          'k',
          ids.map((id) => fresh(id)),
        ),
      )
    return bench
  }

  async begin(change: Partial<Start> = {}): Promise<void> {
    await this.world.do({
      type: 'startOperation',
      operationId: 'op1',
      kind: 'rebalance',
      requestedBy: 'adm',
      reason: 'new disk',
      tenantId: 'acme',
      bucket: null,
      node: null,
      maxBytesPerSecond: null,
      ...change,
    })
  }

  set(action: Action): Promise<LongOperation> {
    return this.world.do({ type: 'setOperationStatus', operationId: 'op1', action, error: null })
  }

  get operation(): LongOperation {
    const found = this.world.store.reader.get(longOperationKeys.operation('op1'))
    if (found === undefined) throw new Error('there is no operation')
    return found
  }

  /** What the node does for which a task was granted. */
  async makeCopies(target = 'n3', limit = 1_000): Promise<number> {
    const ledger = createCopyLedger(this.world.store.reader, this.world.propose, this.world.levels)
    const tasks = ledger.pending(target, limit)
    const ends = tasks.map(({ ref, permit }): Command => {
      const copy = { tenantId: 'acme', chunkId: ref.id as string, birth: ref.birth }
      return { type: 'addReplica', ...copy, node: target, permit }
    })
    if (ends.length > 0) await this.world.apply(ends)
    return tasks.length
  }

  async replicas(): Promise<readonly (readonly string[])[]> {
    const { items } = await this.world.store.reader.page(chunkRanges.chunks(), { limit: 1_000 })
    return items.map((chunk) => [...chunk.replicas].sort())
  }

  /** Rounds of the first driver until it has nothing to do at once. */
  async rounds(driver = this.drivers[0]): Promise<void> {
    while (await driver.round()) continue
  }

  #driver(): Rebalancing {
    return new Rebalancing({
      cluster: { isJobRunner: () => this.jobRunner, placement: () => this.wanted },
      state: this.world.store.reader,
      propose: async (command) => {
        await this.beforePropose(command)
        return this.world.propose(command)
      },
      now: () => this.now,
      logger: SILENT,
    })
  }
}

t.test('Rebalancing', async (t) => {
  for (const bucket of [null, 'photos']) {
    t.test(`moves every chunk of ${bucket ?? 'a tenant'} and then says so`, async (t) => {
      const bench = await Bench.start(t, 300)
      await bench.begin({ bucket })
      await bench.rounds()
      t.match(bench.operation, { status: 'running', progress: { tasksOpen: 300, blobsTotal: 300 } })
      t.equal(await bench.makeCopies(), 300)
      await bench.rounds()
      t.match(bench.operation, { status: 'succeeded', finishedAt: Number })
      const progress = {
        blobsDone: 300,
        bytesMoved: 300 * 38,
        bytesTotal: 300 * 38,
        skipped: 0,
        tasksOpen: 0,
      }
      t.match(bench.operation.progress, progress)
      t.ok((await bench.replicas()).every((nodes) => nodes.join() === 'n2,n3'))
      const drops = (await bench.world.store.reader.page(chunkRanges.dropsOf('n1'), { limit: 1_000 })).items
      t.equal(drops.length, 300, 'and what was replaced may go')
    })
  }

  t.test('ends at once where everything lies right, or there is nothing', async (t) => {
    const bench = await Bench.start(t, 20)
    bench.wanted = ['n1', 'n2']
    await bench.begin()
    await bench.rounds()
    t.match(bench.operation, { status: 'succeeded', progress: { blobsTotal: 20, skipped: 20, blobsDone: 0 } })
    const empty = await Bench.start(t, 0)
    await empty.begin({ bucket: 'photos' })
    await empty.rounds()
    t.match(empty.operation, { status: 'succeeded', progress: { blobsTotal: 0 } })
  })

  t.test('does nothing on a node that is not on duty', async (t) => {
    const bench = await Bench.start(t, 5)
    await bench.begin()
    bench.jobRunner = false
    await bench.rounds()
    t.match(bench.operation, { status: 'queued', cursor: '' })
  })

  t.test('keeps few tasks open, and continues when copies are made', async (t) => {
    const bench = await Bench.start(t, 900)
    await bench.begin()
    await bench.rounds()
    t.equal(bench.operation.progress.tasksOpen, 768)
    await bench.makeCopies('n3', 400)
    await bench.rounds()
    t.equal(bench.operation.progress.tasksOpen, 500)
    await bench.makeCopies()
    await bench.rounds()
    t.match(bench.operation, { status: 'succeeded', progress: { blobsDone: 900 } })
  })

  t.test('counts nothing twice when two nodes drive it at the same time', async (t) => {
    const bench = await Bench.start(t, 300)
    await bench.begin()
    let isSecondRound = false
    bench.beforePropose = async ({ type }) => {
      if (type !== 'advanceOperation' || isSecondRound) return
      isSecondRound = true
      await bench.drivers[1].round()
    }
    for (let n = 0; n < 2; n++) {
      await bench.rounds()
      await bench.makeCopies()
    }
    await bench.rounds()
    t.ok(isSecondRound)
    const progress = { blobsDone: 300, blobsTotal: 300, bytesTotal: 300 * 38, skipped: 0 }
    t.match(bench.operation, { status: 'succeeded', progress })
  })

  t.test(
    'continues where another node stopped, also between a grant and the step that counts it',
    async (t) => {
      const bench = await Bench.start(t, 600)
      await bench.begin()
      bench.beforePropose = async ({ type }) => {
        if (type === 'advanceOperation' && bench.operation.cursor !== '') throw new Error('the node is gone')
      }
      await t.rejects(bench.rounds(), /the node is gone/)
      const { cursor } = bench.operation
      t.not(cursor, '')
      bench.beforePropose = async (command) => {
        if (command.type === 'advanceOperation') t.ok(command.from >= cursor)
      }
      for (let n = 0; n < 4; n++) {
        await bench.rounds(bench.drivers[1])
        await bench.makeCopies()
      }
      t.match(bench.operation, { status: 'succeeded', progress: { blobsDone: 600, blobsTotal: 600 } })
    },
  )

  t.test('plans nothing while it is paused, and continues when it is resumed', async (t) => {
    const bench = await Bench.start(t, 600)
    await bench.begin()
    await bench.drivers[0].round()
    await bench.set('pause')
    await bench.rounds()
    t.match(bench.operation, { status: 'paused', progress: { tasksOpen: 256 } })
    await bench.makeCopies()
    t.match(bench.operation.progress, { tasksOpen: 0, blobsDone: 256 })
    await bench.set('resume')
    await bench.rounds()
    await bench.makeCopies()
    await bench.rounds()
    t.match(bench.operation, { status: 'succeeded', progress: { blobsDone: 600 } })
  })

  t.test(
    'takes back what it planned when it is cancelled, and leaves the copies where they were',
    async (t) => {
      const bench = await Bench.start(t, 300)
      await bench.begin()
      await bench.rounds()
      await bench.makeCopies('n3', 10)
      await bench.set('cancel')
      await bench.rounds()
      t.match(bench.operation, {
        status: 'cancelled',
        progress: { tasksOpen: 0, blobsDone: 10, skipped: 290 },
      })
      t.equal(await bench.makeCopies(), 0)
      const placed = (await bench.replicas()).map((nodes) => nodes.join())
      t.equal(placed.filter((nodes) => nodes === 'n1,n2').length, 290)
      t.equal(bench.world.store.reader.get(chunkKeys.repairTotal())?.count ?? 0, 0)
    },
  )

  t.test('takes back nothing of what others asked for, however much it is', async (t) => {
    const bench = await Bench.start(t, 5)
    const ids = Array.from({ length: 300 }, (_, n) => `a${n}`)
    await bench.world.do(
      putChunks(
        'other',
        ids.map((id) => fresh(id, { missing: ['n3'] })),
      ),
    )
    await bench.begin()
    await bench.rounds()
    t.match(bench.operation.progress, { tasksOpen: 5 })
    await bench.set('cancel')
    await bench.rounds()
    t.match(bench.operation.progress, { tasksOpen: 0 })
    t.equal(bench.world.store.reader.get(chunkKeys.repairTotal())?.count ?? 0, 300)
  })

  t.test('fails when its bucket is gone', async (t) => {
    const bench = await Bench.start(t, 0)
    await bench.begin({ bucket: 'photos' })
    await bench.world.do({ type: 'deleteBucket', tenantId: 'acme', name: 'photos' })
    await bench.rounds()
    t.match(bench.operation, { status: 'failed', error: 'Bucket "photos" does not exist any more' })
  })

  t.test('keeps to the rate of an operation, on average', async (t) => {
    const bench = await Bench.start(t, 100)
    await bench.begin({ maxBytesPerSecond: 76 })
    await bench.rounds()
    t.equal(bench.operation.progress.tasksOpen, 10, 'five seconds of it')
    bench.now = 4_999
    await bench.rounds()
    t.equal(bench.operation.progress.tasksOpen, 10)
    for (bench.now = 5_000; bench.now < 25_000; bench.now += 1_000) await bench.rounds()
    t.equal(bench.operation.progress.tasksOpen, 50)
  })

  t.test('makes what is missing where a copy was lost, in exchange for nothing', async (t) => {
    const bench = await Bench.start(t, 4)
    bench.wanted = ['n1', 'n2', 'n3']
    await bench.begin()
    await bench.rounds()
    await bench.makeCopies()
    t.ok((await bench.replicas()).every((nodes) => nodes.join() === 'n1,n2,n3'))
  })
})
