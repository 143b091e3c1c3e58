import t from 'tap'
import { chunkKeys, chunkRanges } from '../../src/state-machine/chunks/keys.ts'
import { COMMAND_LEVELS } from '../../src/state-machine/command-levels.ts'
import type { Command } from '../../src/state-machine/commands.ts'
import type { Propose } from '../../src/commands/propose.ts'
import { createCopyLedger } from '../../src/store/ledger/copy-ledger.ts'
import { keyBytes } from '../../src/store/rows/row-codec.ts'
import { dropCopy, fresh, putChunks } from '../state-machine/map-world.ts'
import { StoreWorld } from './store-world.ts'
import { bodyRanges } from '../../src/state-machine/bodies/keys.ts'
import { repairTasks } from '../../src/store/reads/chunk-reads.ts'
import { Recounting } from '../../src/workers/recounting.ts'
import { SILENT } from '../helpers/loggers.ts'
import { putRow } from '../helpers/database-rows.ts'

const owed = (id: string, missing: readonly string[]) => fresh(id, { missing })

t.test('copy ledger', (t) => {
  t.test(
    'name the blob as it lies on disk and its target, and end when done, twice as well as once',
    async (t) => {
      const world = await StoreWorld.withBucket(t)
      const tasks = createCopyLedger(world.store.reader, world.propose, world.levels)
      await world.do(putChunks('k', [owed('c1', ['n3']), owed('c2', ['n4'])]))
      t.equal(world.store.reader.get(chunkKeys.repairTotal())?.count ?? 0, 2)
      const pending = tasks.pending('n3', 10)
      t.same(pending, [
        {
          ref: {
            id: 'c1',
            birth: 'birth-c1',
            size: 38,
            checksum: 'sum-c1',
            replicas: ['n1', 'n2'],
            owner: 'acme',
          },
          target: 'n3',
          permit: world.index,
        },
      ])
      for (let i = 0; i < 2; i++) {
        await tasks.done(structuredClone(pending))
        t.same(tasks.pending('n3', 10), [])
        t.same(world.store.reader.get(chunkKeys.chunk('acme', 'c1'))?.replicas, ['n1', 'n2', 'n3'])
        t.equal(world.store.reader.get(chunkKeys.repairTotal())?.count ?? 0, 1)
      }
      t.equal(tasks.pending('n4', 10).length, 1)
      t.same(tasks.pending('n5', 10), [])
    },
  )

  t.test('are ended many in one entry, those with a fault left out', async (t) => {
    const world = await StoreWorld.withBucket(t)
    const tasks = createCopyLedger(world.store.reader, world.propose, world.levels)
    const ids = Array.from({ length: 300 }, (_, i) => `c${i}`)
    await world.do(
      putChunks(
        'k',
        ids.map((id) => owed(id, ['n3'])),
      ),
    )
    const before = world.index
    const due = tasks.pending('n3', 400).map((task, n) => (n === 7 ? { ...task, permit: 0 } : task))
    await tasks.done(due)
    t.equal(world.index - before, 2, 'at most 256 in each')
    t.equal(world.store.reader.get(chunkKeys.repairTotal())?.count ?? 0, 1)
    await tasks.done(tasks.pending('n3', 400))
    t.equal(world.store.reader.get(chunkKeys.repairTotal())?.count ?? 0, 0)
    await tasks.done([])
    t.equal(world.index - before, 3, 'nothing is proposed for none')
  })

  t.test('are ended one by one while a member may not know the command for many', async (t) => {
    const world = await StoreWorld.withBucket(t)
    const types: string[] = []
    let last: Promise<unknown> = Promise.resolve()
    // The world applies one entry at a time.
    const propose = ((command: Command) => {
      types.push(command.type)
      last = last.then(() => world.propose(command))
      return last
    }) as Propose
    const tasks = createCopyLedger(world.store.reader, propose, world.levels)
    await world.do(putChunks('k', [owed('c1', ['n3']), owed('c2', ['n3']), owed('c3', ['n3'])]))
    world.featureLevel = COMMAND_LEVELS.addReplicas - 1
    await tasks.done(tasks.pending('n3', 2))
    t.same(types, ['addReplica', 'addReplica'])
    t.equal(world.store.reader.get(chunkKeys.repairTotal())?.count ?? 0, 1)
    world.featureLevel = COMMAND_LEVELS.addReplicas
    await tasks.done(tasks.pending('n3', 2))
    t.same(types, ['addReplica', 'addReplica', 'addReplicas'])
    t.equal(world.store.reader.get(chunkKeys.repairTotal())?.count ?? 0, 0)
  })

  t.test('owe nothing while the rows cannot be read, and do not throw', async (t) => {
    const world = await StoreWorld.withBucket(t)
    const tasks = createCopyLedger(world.store.reader, world.propose, world.levels)
    await world.do(putChunks('k', [owed('c1', ['n3'])]))
    const { db } = world.store.stateMachine.handle.current
    const key = keyBytes(chunkKeys.chunk('acme', 'c1'))
    const value = db.getSync(key) ?? Buffer.alloc(1)
    value[value.length - 1] = (value.at(-1) ?? 0) ^ 1
    await putRow(db, key, value)
    t.same(tasks.pending('n3', 10), [])
    t.equal(world.damages.length, 1, 'the damage is still reported')
    t.same(tasks.pending('n3', 10), [])
    const recounting = new Recounting({
      cluster: { isJobRunner: () => false, nodeId: 'n1' },
      state: world.store.reader,
      propose: world.propose,
      everyMs: 1,
      now: () => 0,
      logger: SILENT,
    })
    const halted = recounting.metrics().find(({ name }) => name === 'holdfast_collection_halted')
    t.match(halted, { value: 0 })
  })

  t.test('strike a lost copy off and request it again, but never the last one', async (t) => {
    const world = await StoreWorld.withBucket(t)
    const tasks = createCopyLedger(world.store.reader, world.propose, world.levels)
    await world.do(putChunks('k', [owed('c1', [])]))
    const ref = {
      id: 'c1',
      birth: 'birth-c1',
      size: 38,
      checksum: 'sum-c1',
      replicas: ['n1', 'n2'],
      owner: 'acme',
    }
    for (let i = 0; i < 2; i++) await tasks.lost('n2', [ref])
    t.same(world.store.reader.get(chunkKeys.chunk('acme', 'c1'))?.replicas, ['n1'])
    t.equal(tasks.pending('n2', 10).length, 1)
    await tasks.lost('n1', [ref])
    t.same(world.store.reader.get(chunkKeys.chunk('acme', 'c1'))?.replicas, ['n1'])
    t.equal(world.store.reader.get(chunkKeys.repairTotal())?.count ?? 0, 1)
  })

  t.test('come in bounded numbers, survive a restart, and run dry only when nothing is owed', async (t) => {
    const world = await StoreWorld.withBucket(t)
    const ids = Array.from({ length: 2600 }, (_, i) => `c${i}`)
    await world.do(
      putChunks(
        'first',
        ids.slice(0, 900).map((id) => owed(id, ['n3'])),
      ),
    )
    await world.do(
      putChunks(
        'second',
        ids.slice(900).map((id) => owed(id, ['n3'])),
      ),
    )
    t.ok(repairTasks(world.store.reader, 'n3', 5000).length <= 1024, 'memory is bounded')
    await world.store.stateMachine.close()

    const again = await StoreWorld.open(t, world.dir)
    const tasks = createCopyLedger(again.store.reader, again.propose, again.levels)
    t.equal(tasks.pending('n3', 10).length, 10)
    const done = new Set<string>()
    for (let due = tasks.pending('n3', 400); due.length > 0; due = tasks.pending('n3', 400)) {
      await again.apply(
        due.map(({ ref, target, permit }) => {
          const chunkId: string = ref.id
          return { type: 'addReplica', tenantId: 'acme', chunkId, birth: ref.birth, node: target, permit }
        }),
      )
      for (const { ref } of due) done.add(ref.id)
    }
    t.equal(done.size, ids.length)
    t.equal(again.store.reader.get(chunkKeys.repairTotal())?.count ?? 0, 0)
  })

  t.test(
    'show those with the fewest copies first, also when there are more than a window holds',
    async (t) => {
      const world = await StoreWorld.withBucket(t)
      const tasks = createCopyLedger(world.store.reader, world.propose, world.levels)
      const ids = Array.from({ length: 1500 }, (_, i) => `c${i}`)
      await world.do(
        putChunks(
          'k',
          ids.map((id) => owed(id, ['n3'])),
        ),
      )
      await world.do(dropCopy('c1499', 'n1'))
      const [first] = tasks.pending('n3', 1)
      t.match(first, { ref: { id: 'c1499', replicas: ['n2'] } })
      t.ok(repairTasks(world.store.reader, 'n3', 5000).length <= 1024, 'memory is bounded')
    },
  )

  t.test('name the copies to remove, the listed copies and the status of a copy', async (t) => {
    const world = await StoreWorld.withBucket(t)
    const ledger = createCopyLedger(world.store.reader, world.propose, world.levels)
    await world.do(putChunks('k', ['c1', fresh('c2', { replicas: ['n2', 'n3'] }), 'c3']))
    const first = await ledger.listed('n1', null, 2)
    t.same(
      first.refs.map(({ id }) => id),
      ['c1'],
    )
    const rest = await ledger.listed('n1', first.next, 2)
    t.same([rest.refs.map(({ id }) => id), rest.next], [['c3'], null])
    await world.do({
      type: 'deleteObject',
      tenantId: 'acme',
      bucket: 'photos',
      key: 'k',
      versionId: null,
      ifMatch: null,
    })
    const items = (await world.store.reader.page(bodyRanges.discarded(), { limit: 1 })).items
    await world.do({ type: 'releaseDue', upTo: world.index, items })
    t.same(await ledger.drops('n1', 10), [])
    const queue = (await world.store.reader.page(chunkRanges.condemned(), { limit: 10 })).items
    t.equal(queue.length, 3)
    await world.do({ type: 'collectChunks', chunks: queue })
    const drops = await ledger.drops('n1', 10)
    t.same(drops, [
      { id: 'c1', birth: 'birth-c1' },
      { id: 'c3', birth: 'birth-c3' },
    ])
    for (const name of drops) t.equal(ledger.copyStatus(name, 'n1'), 'dropping')
    for (let i = 0; i < 2; i++) await ledger.dropped('n1', drops)
    t.same(await ledger.drops('n1', 10), [])
    t.equal(ledger.copyStatus({ id: 'c1', birth: 'birth-c1' }, 'n1'), 'undecided')
  })

  t.test('that were added and ended in one batch never show', async (t) => {
    const world = await StoreWorld.withBucket(t)
    await world.apply([
      putChunks('k', [owed('c1', ['n3'])]),
      {
        type: 'addReplica',
        tenantId: 'acme',
        chunkId: 'c1',
        birth: 'birth-c1',
        node: 'n3',
        permit: world.index + 1,
      },
    ])
    t.same(repairTasks(world.store.reader, 'n3', 10), [])
  })
  t.end()
})
