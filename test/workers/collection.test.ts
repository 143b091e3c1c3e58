/** What is collected when: over a real store, with a clock that the test moves. */
import t from 'tap'
import { Condition } from '../../cluster/index.ts'
import { Collection } from '../../src/workers/collection.ts'
import { repeat } from '../../src/workers/repeating.ts'
import { type LogLine, recordingLogger, SILENT } from '../helpers/loggers.ts'
import { putChunks, remove } from '../state-machine/map-world.ts'
import { StoreWorld, type Teardown } from '../store/store-world.ts'
import { chunkKeys, chunkRanges } from '../../src/state-machine/chunks/keys.ts'

class Bench {
  now = 0
  isJobRunner = true
  readonly collection: Collection
  readonly world: StoreWorld

  constructor(world: StoreWorld) {
    this.world = world
    this.collection = new Collection({
      confirmedTime: () => 0,
      cluster: { isJobRunner: () => this.isJobRunner },
      state: world.store.reader,
      propose: world.propose,
      members: () => ['g1'],
      delayMs: 100,
      now: () => this.now,
      logger: SILENT,
    })
  }

  static async start(t: Teardown): Promise<Bench> {
    const world = await StoreWorld.withBucket(t)
    // There the chunks of a small body are released in the entry that removes its object.
    world.featureLevel = 2
    return new Bench(world)
  }

  isThere(id: string): boolean {
    return this.world.store.reader.get(chunkKeys.chunk('acme', id)) !== undefined
  }

  async roundAt(now: number): Promise<boolean> {
    this.now = now
    return this.collection.round()
  }
}

t.test('Collection', async (t) => {
  t.test('collects what was condemned when the delay began, and not what came after', async (t) => {
    const bench = await Bench.start(t)
    await bench.world.do(putChunks('a', ['c1']))
    await bench.world.do(putChunks('b', ['c2']))
    await bench.world.do(putChunks('c', ['c3']))
    await bench.world.do(remove('a'))
    await bench.roundAt(0)
    await bench.world.do(remove('b'))
    await bench.roundAt(50)
    await bench.roundAt(99)
    t.ok(bench.isThere('c1'))
    await bench.roundAt(100)
    t.same([bench.isThere('c1'), bench.isThere('c2'), bench.isThere('c3')], [false, true, true])
    await bench.roundAt(149)
    t.ok(bench.isThere('c2'))
    await bench.roundAt(150)
    t.same([bench.isThere('c2'), bench.isThere('c3')], [false, true])
    await bench.roundAt(1000)
    t.ok(bench.isThere('c3'), 'what is referenced is never in the queue')
  })

  t.test('works off a long queue without waiting in between', async (t) => {
    const bench = await Bench.start(t)
    const chunks = Array.from({ length: 600 }, (_, i) => `c${i}`)
    const { object } = await bench.world.do(putChunks('a', chunks))
    await bench.world.do(remove('a'))
    const release = { type: 'releaseDiscarded', id: object.versionId, partNumbers: [] } as const
    while (!(await bench.world.do(release)).isDone);
    await bench.roundAt(0)
    t.same(
      [await bench.roundAt(100), await bench.roundAt(100), await bench.roundAt(100)],
      [true, true, false],
    )
    t.equal((await bench.world.store.reader.page(chunkRanges.condemned(), { limit: 1000 })).items.length, 0)
  })

  t.test('does nothing while another node is on duty, or while collection is halted', async (t) => {
    const bench = await Bench.start(t)
    await bench.world.do(putChunks('a', ['c1']))
    await bench.world.do(remove('a'))
    await bench.roundAt(0)
    bench.isJobRunner = false
    await bench.roundAt(200)
    bench.isJobRunner = true
    await bench.roundAt(210)
    t.ok(bench.isThere('c1'), 'and the delay begins again')
    await bench.world.do({ type: 'haltCollection', reason: 'drift' })
    await bench.roundAt(400)
    t.ok(bench.isThere('c1'))
    await bench.world.do({ type: 'resumeCollection', requestedBy: 'olga', reason: 'looked' })
    await bench.roundAt(401)
    await bench.roundAt(501)
    t.notOk(bench.isThere('c1'))
  })

  t.test('closes the sessions of nodes that are no members', async (t) => {
    const bench = await Bench.start(t)
    await bench.world.do({ type: 'openSession', session: 'gone', node: 'g9', keep: [] })
    await bench.roundAt(0)
    t.match(bench.world.store.reader.get(chunkKeys.session('gone')), { closed: true })
    t.match(bench.world.store.reader.get(chunkKeys.session('birth')), { closed: false })
  })
})

t.test('repeat', async (t) => {
  t.test('continues after a failure, and ends after the round under way when the signal fires', async (t) => {
    const lines: LogLine[] = []
    const controller = new AbortController()
    let rounds = 0
    const work = async (): Promise<boolean> => {
      rounds += 1
      if (rounds === 1) throw new Condition('no_leader', 'there is no leader')
      if (rounds === 2) throw new Error('a bug')
      if (rounds < 6) return true
      controller.abort()
      return true
    }
    await repeat({ name: 'counting', work, everyMs: 1, logger: recordingLogger(lines) }, controller.signal)
    t.equal(rounds, 6)
    t.match(lines, [{ level: 'debug' }, { level: 'error', fields: { worker: 'counting' } }])
  })
})
