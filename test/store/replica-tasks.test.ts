import t from 'tap'
import { createReplicaTasks } from '../../src/store/replica-tasks.ts'
import { fresh, putChunks } from '../state-machine/map-world.ts'
import { StoreWorld } from './store-world.ts'

const owed = (id: string, missing: readonly string[]) => fresh(id, { missing })

t.test('replica tasks', (t) => {
  t.test(
    'name the blob as it lies on disk and its target, and end when done, twice as well as once',
    async (t) => {
      const world = await StoreWorld.withBucket(t)
      const tasks = createReplicaTasks(world.store.reader, world.propose)
      await world.do(putChunks('k', [owed('c1', ['n3']), owed('c2', ['n4'])]))
      t.equal(world.store.reader.repairCount(), 2)
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
        },
      ])
      for (let i = 0; i < 2; i++) {
        for (const task of pending) await tasks.done(structuredClone(task))
        t.same(tasks.pending('n3', 10), [])
        t.same(world.store.reader.chunk('acme', 'c1')?.replicas, ['n1', 'n2', 'n3'])
        t.equal(world.store.reader.repairCount(), 1)
      }
      t.equal(tasks.pending('n4', 10).length, 1)
      t.same(tasks.pending('n5', 10), [])
    },
  )

  t.test('strike a lost copy off and ask for it anew, but never the last one', async (t) => {
    const world = await StoreWorld.withBucket(t)
    const tasks = createReplicaTasks(world.store.reader, world.propose)
    await world.do(putChunks('k', [owed('c1', [])]))
    const ref = {
      id: 'c1',
      birth: 'birth-c1',
      size: 38,
      checksum: 'sum-c1',
      replicas: ['n1', 'n2'],
      owner: 'acme',
    }
    for (let i = 0; i < 2; i++) await tasks.lost(ref, 'n2')
    t.same(world.store.reader.chunk('acme', 'c1')?.replicas, ['n1'])
    t.equal(tasks.pending('n2', 10).length, 1)
    await tasks.lost(ref, 'n1')
    t.same(world.store.reader.chunk('acme', 'c1')?.replicas, ['n1'])
    t.equal(world.store.reader.repairCount(), 1)
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
    t.ok(world.store.reader.repairs('n3', 5000).length <= 1024, 'memory is bounded')
    await world.store.stateMachine.close()

    const again = await StoreWorld.open(t, world.dir)
    const tasks = createReplicaTasks(again.store.reader, again.propose)
    t.equal(tasks.pending('n3', 10).length, 10)
    const done = new Set<string>()
    for (let due = tasks.pending('n3', 400); due.length > 0; due = tasks.pending('n3', 400)) {
      await again.apply(
        due.map(({ ref, target }) => {
          const chunkId: string = ref.id
          return { type: 'addReplica', tenantId: 'acme', chunkId, birth: ref.birth, node: target }
        }),
      )
      for (const { ref } of due) done.add(ref.id)
    }
    t.equal(done.size, ids.length)
    t.equal(again.store.reader.repairCount(), 0)
  })

  t.test('that were added and ended in one batch never show', async (t) => {
    const world = await StoreWorld.withBucket(t)
    await world.apply([
      putChunks('k', [owed('c1', ['n3'])]),
      { type: 'addReplica', tenantId: 'acme', chunkId: 'c1', birth: 'birth-c1', node: 'n3' },
    ])
    t.same(world.store.reader.repairs('n3', 10), [])
  })
  t.end()
})
