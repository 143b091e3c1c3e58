/** Copies of chunks: owed, made, lost, moved and removed, and the rows that record it. */
import t from 'tap'
import { chunkKeys } from '../../src/state-machine/chunks/keys.ts'
import type { RepairRecord } from '../../src/state-machine/chunks/records.ts'
import {
  addCopy,
  dropCopy,
  fresh,
  type MapWorld,
  putChunks,
  startOperation,
  worldAtLevel2,
} from './map-world.ts'

const name = { tenantId: 'acme', chunkId: 'c1', birth: 'birth-c1' } as const
const chunk = (world: MapWorld) => world.get(chunkKeys.chunk('acme', 'c1'))
const task = (world: MapWorld, target: string, copies: number) =>
  world.get(chunkKeys.repair({ target, copies, birth: 'birth-c1', id: 'c1' }))
/** A world with an operation that may plan. */
function planning(): MapWorld {
  const world = worldAtLevel2()
  world.do(startOperation('op1'))
  return world
}

const dropOf = (world: MapWorld, node: string) => world.get(chunkKeys.drop(node, 'birth-c1', 'c1'))

function owing(): MapWorld {
  const world = worldAtLevel2()
  world.do(putChunks('k', [fresh('c1', { missing: ['n3'] })]))
  return world
}

const move = (target: string, replaces: string | null, copiesKept = 2) =>
  ({ type: 'planCopies', operation: 'op1', moves: [{ ...name, target, replaces, copiesKept }] }) as const

t.test('addReplica', (t) => {
  t.test('lists the copy and ends its task; repeating it changes nothing', (t) => {
    const world = owing()
    t.match(task(world, 'n3', 2), { target: 'n3', permit: world.index, replaces: null })
    const done = addCopy(world, 'c1', 'n3')
    for (let i = 0; i < 2; i++) {
      t.equal(world.do(done), null)
      t.match(chunk(world), { replicas: ['n1', 'n2', 'n3'], owed: [] })
      t.notOk(task(world, 'n3', 2))
      t.same(world.get(chunkKeys.repairTotal()), { count: 0 })
    }
    t.end()
  })

  t.test('changes nothing for another birth, for a chunk that does not exist or without a task', (t) => {
    const world = owing()
    const before = new Map(world.rows)
    const { permit } = task(world, 'n3', 2) as RepairRecord
    world.do({ type: 'addReplica', ...name, birth: 'birth-0', node: 'n3', permit })
    world.do({ type: 'addReplica', ...name, chunkId: 'never', node: 'n3', permit })
    world.do({ type: 'addReplica', ...name, node: 'n4', permit })
    t.same(world.rows, before)
    t.end()
  })

  t.test(
    'changes nothing if the task was granted again since: its copy may have been removed meanwhile',
    (t) => {
      const world = owing()
      const late = addCopy(world, 'c1', 'n3')
      world.do(addCopy(world, 'c1', 'n3'))
      world.do(dropCopy('c1', 'n3'))
      world.do(late)
      t.match(chunk(world), { replicas: ['n1', 'n2'], owed: ['n3'] })
      t.end()
    },
  )

  t.test('moves the other tasks of the chunk to the new number of copies', (t) => {
    const world = worldAtLevel2()
    world.do(putChunks('k', [fresh('c1', { replicas: ['n1'], missing: ['n2', 'n3'] })], 1))
    t.ok(task(world, 'n3', 1))
    world.do(addCopy(world, 'c1', 'n2'))
    t.notOk(task(world, 'n3', 1))
    t.ok(task(world, 'n3', 2), 'fewest copies first')
    t.end()
  })
  t.end()
})

t.test('addReplicas', (t) => {
  const owingMany = (): MapWorld => {
    const world = worldAtLevel2()
    world.do(
      putChunks(
        'k',
        ['c1', 'c2', 'c3'].map((id) => fresh(id, { missing: ['n3', 'n4'] })),
      ),
    )
    return world
  }
  const done = (world: MapWorld, ids: readonly string[], changes: object = {}) => {
    const copies = ids.map((id) => {
      const { permit } = world.get(taskOf(id)) as RepairRecord
      return { tenantId: 'acme', chunkId: id, birth: `birth-${id}`, permit, ...changes }
    })
    return { type: 'addReplicas', node: 'n3', copies } as const
  }
  const taskOf = (id: string) => chunkKeys.repair({ target: 'n3', copies: 2, birth: `birth-${id}`, id })
  const replicasOf = (world: MapWorld, id: string) => world.get(chunkKeys.chunk('acme', id))?.replicas

  t.test('lists every copy and ends every task; repeating it changes nothing', (t) => {
    const world = owingMany()
    const command = done(world, ['c1', 'c2', 'c3'])
    for (const listed of [3, 0]) {
      t.same(world.do(command), { listed })
      for (const id of ['c1', 'c2', 'c3']) {
        t.same(replicasOf(world, id), ['n1', 'n2', 'n3'])
        t.notOk(world.get(taskOf(id)))
      }
      t.same(world.get(chunkKeys.repairTotal()), { count: 3 }, 'the tasks of the other node stay')
    }
    t.end()
  })

  t.test('skips what addReplica would skip, and lists the others', (t) => {
    const wrongs = [{ birth: 'birth-0' }, { chunkId: 'never' }, { permit: 0 }, { tenantId: 'none' }]
    for (const wrong of wrongs) {
      const world = owingMany()
      const [bad] = done(world, ['c2'], wrong).copies
      const good = done(world, ['c1', 'c3'])
      const [first, last] = good.copies
      const copies = [first, bad, last, first].filter((copy) => copy !== undefined)
      t.same(world.do({ ...good, copies }), { listed: 2 }, JSON.stringify(wrong))
      t.same(replicasOf(world, 'c1'), ['n1', 'n2', 'n3'])
      t.same(replicasOf(world, 'c2'), ['n1', 'n2'])
      t.same(replicasOf(world, 'c3'), ['n1', 'n2', 'n3'])
    }
    t.end()
  })

  t.test('invalid_argument when there are none or more than 256', (t) => {
    const world = owingMany()
    const [copy] = done(world, ['c1']).copies
    const copies = Array.from({ length: 257 }, () => copy).filter((one) => one !== undefined)
    const refused = { ok: false, code: 'invalid_argument' }
    t.match(world.run({ type: 'addReplicas', node: 'n3', copies }), refused)
    t.match(world.run({ type: 'addReplicas', node: 'n3', copies: [] }), refused)
    t.same(world.do({ type: 'addReplicas', node: 'n3', copies: copies.slice(0, 256) }), { listed: 1 })
    t.end()
  })
  t.end()
})

t.test('dropReplicas', (t) => {
  t.test('strikes the copy off and owes it; repeating it changes nothing', (t) => {
    const world = owing()
    for (let i = 0; i < 2; i++) {
      t.same(world.do(dropCopy('c1', 'n1')), { dropped: 1 - i, last: 0 })
      t.match(chunk(world), { replicas: ['n2'], owed: ['n3', 'n1'] })
      t.ok(task(world, 'n1', 1))
      t.ok(task(world, 'n3', 1), 'and the other task is equally urgent now')
      t.same(world.get(chunkKeys.repairTotal()), { count: 2 })
      t.notOk(dropOf(world, 'n1'), 'a copy that is to be made again is not removed')
    }
    t.end()
  })

  t.test('keeps the last listed copy and reports it', (t) => {
    const world = owing()
    world.do(dropCopy('c1', 'n1'))
    t.same(world.do(dropCopy('c1', 'n2')), { dropped: 0, last: 1 })
    t.same(chunk(world)?.replicas, ['n2'])
    t.end()
  })

  t.test('invalid_argument when there are none or more than 256', (t) => {
    const world = owing()
    const copies = Array.from({ length: 257 }, () => name)
    const refused = { ok: false, code: 'invalid_argument' }
    t.match(world.run({ type: 'dropReplicas', node: 'n1', copies, operation: null }), refused)
    t.match(world.run({ type: 'dropReplicas', node: 'n1', copies: [], operation: null }), refused)
    t.end()
  })
  t.end()
})

t.test('planCopies', (t) => {
  t.test('grants a task, and its end replaces the old copy in the same entry', (t) => {
    const world = planning()
    world.do(putChunks('k', ['c1']))
    t.same(world.do(move('n3', 'n1')), { planned: 1 })
    t.match(chunk(world), { replicas: ['n1', 'n2'], owed: ['n3'] })
    t.notOk(dropOf(world, 'n1'), 'the old copy stays until the new one was read back')
    world.do(addCopy(world, 'c1', 'n3'))
    t.match(chunk(world), { replicas: ['n2', 'n3'], owed: [] })
    t.ok(dropOf(world, 'n1'))
    t.end()
  })

  t.test('keeps the old copy if fewer than `copiesKept` would be left', (t) => {
    const world = planning()
    world.do(putChunks('k', ['c1']))
    world.do(move('n3', 'n1', 3))
    world.do(addCopy(world, 'c1', 'n3'))
    t.match(chunk(world), { replicas: ['n1', 'n2', 'n3'], owed: [] })
    t.end()
  })

  t.test('withdraws the permission to remove a copy that is wanted again', (t) => {
    const world = planning()
    world.do(putChunks('k', ['c1']))
    world.do(move('n3', 'n1'))
    world.do(addCopy(world, 'c1', 'n3'))
    t.ok(dropOf(world, 'n1'))
    world.do(move('n1', 'n2'))
    t.notOk(dropOf(world, 'n1'))
    t.end()
  })

  t.test('skips moves whose chunk has changed since they were planned', (t) => {
    const world = planning()
    world.do(putChunks('k', ['c1']))
    t.same(world.do(move('n2', 'n1')), { planned: 0 }, 'it has one already')
    t.same(world.do(move('n3', 'n9')), { planned: 0 }, 'the copy to replace is not listed')
    const [first] = move('n3', 'n1').moves
    const elsewhere = [
      { ...first, birth: 'birth-0' },
      { ...first, chunkId: 'c9' },
    ]
    t.same(world.do({ type: 'planCopies', operation: 'op1', moves: elsewhere }), { planned: 0 })
    world.do(move('n3', 'n1'))
    t.same(world.do(move('n3', 'n2')), { planned: 0 }, 'it is owed already')
    world.do({
      type: 'deleteObject',
      tenantId: 'acme',
      bucket: 'photos',
      key: 'k',
      versionId: null,
      ifMatch: null,
    })
    t.same(world.do(move('n4', null)), { planned: 0 }, 'it is condemned')
    t.end()
  })
  t.end()
})

t.test('endTasks', (t) => {
  t.test('ends only the tasks of its own operation; a copy that was made already gets a drop row', (t) => {
    const world = owing()
    world.do(startOperation('op1'))
    world.do(move('n4', null))
    const tasks = ['n3', 'n4'].map((target) => ({ ...name, target }))
    t.same(world.do({ type: 'endTasks', operation: 'op1', tasks }), { ended: 1 })
    t.match(chunk(world), { owed: ['n3'] })
    t.ok(dropOf(world, 'n4'))
    t.same(world.do({ type: 'endTasks', operation: 'op1', tasks }), { ended: 0 })
    t.end()
  })
  t.end()
})

t.test('dropsDone', (t) => {
  t.test('ends the order to remove a copy; repeating it changes nothing', (t) => {
    const world = owing()
    world.do({
      type: 'deleteObject',
      tenantId: 'acme',
      bucket: 'photos',
      key: 'k',
      versionId: null,
      ifMatch: null,
    })
    world.do({ type: 'collectChunks', chunks: [{ ...name, condemnedAt: world.index }] })
    t.ok(dropOf(world, 'n1'))
    for (let i = 0; i < 2; i++) {
      world.do({ type: 'dropsDone', node: 'n1', names: [{ id: 'c1', birth: 'birth-c1' }] })
      t.notOk(dropOf(world, 'n1'))
      t.ok(dropOf(world, 'n2'), 'only of one node')
    }
    t.end()
  })
  t.end()
})
