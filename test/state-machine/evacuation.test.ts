/** Copies of a leaving member: moved, struck off when enough others stay, and none comes back. */
import t from 'tap'
import { longOperationKeys } from '../../src/state-machine/long-operations/keys.ts'
import { chunkKeys } from '../../src/state-machine/chunks/keys.ts'
import type { RepairRecord } from '../../src/state-machine/chunks/records.ts'
import { addCopy, fresh, type MapWorld, putChunks, recounted, worldWithBucket } from './map-world.ts'
import { foundedWorld, start, step, walk } from './member-commands.ts'

const name = { tenantId: 'acme', chunkId: 'c1', birth: 'birth-c1' } as const
const chunk = (world: MapWorld) => world.get(chunkKeys.chunk('acme', 'c1'))
const evacuate = (operation: string, target: string | null, copiesKept = 2) =>
  ({ type: 'evacuateCopies', operation, items: [{ ...name, target, copiesKept }] }) as const

/** Neither of two voters can be marked lost. */
const FOUR = ['n1', 'n2', 'n3', 'n4']

/** A chunk on n1 and n2, and its owed copies. */
function holding(missing: readonly string[] = [], members = ['n1', 'n2', 'n3']): MapWorld {
  const world = foundedWorld(members, worldWithBucket())
  world.do(putChunks('k', [fresh('c1', { missing })]))
  return world
}

function draining(world: MapWorld): MapWorld {
  world.do(start('demote', 'n2'))
  world.do(step('op-demote-n2', 'demote', 'drain'))
  return world
}

t.test('of a reachable member', (t) => {
  t.test('a copy is struck off when the new one is listed, and not before', (t) => {
    const world = draining(holding())
    t.same(world.do(evacuate('op-demote-n2', 'n3')), { moved: 1, last: 1 })
    t.match(chunk(world), { replicas: ['n1', 'n2'], owed: ['n3'] })
    t.match(world.run(step('op-demote-n2', 'drain', 'verify')), { ok: true })
    world.do(addCopy(world, 'c1', 'n3'))
    t.match(chunk(world), { replicas: ['n1', 'n3'], owed: [] })
    t.ok(world.get(chunkKeys.drop('n2', 'birth-c1', 'c1')), 'the old holder gets a drop row')
    t.match(world.get(longOperationKeys.operation('op-demote-n2'))?.progress, { tasksOpen: 0, blobsDone: 1 })
    t.same(recounted(world), [])
    t.end()
  })

  t.test('an unneeded copy is struck off at once, but never below `copiesKept`', (t) => {
    const world = draining(holding())
    t.same(world.do(evacuate('op-demote-n2', null)), { moved: 0, last: 1 }, 'one other is too few')
    world.do(evacuate('op-demote-n2', null, 1))
    t.match(chunk(world), { replicas: ['n1'] })
    t.end()
  })

  t.test('a copy that it is about to make is given to another node', (t) => {
    const world = holding(['n3'])
    world.do(start('demote', 'n3'))
    world.do(step('op-demote-n3', 'demote', 'drain'))
    world.do(evacuate('op-demote-n3', null))
    t.match(chunk(world), { replicas: ['n1', 'n2'], owed: [] })
    t.same(world.get(chunkKeys.repairTotal()), { count: 0 })
    t.end()
  })
  t.end()
})

t.test('a copy of a lost member is struck off at once, except the last one', (t) => {
  const world = holding()
  world.do(start('lost', 'n2'))
  world.do(step('op-lost-n2', 'exclude', 'repair'))
  t.same(world.do(evacuate('op-lost-n2', 'n3')), { moved: 1, last: 0 })
  t.match(chunk(world), { replicas: ['n1'], owed: ['n3'] })
  t.match(
    world.run(step('op-lost-n2', 'repair', 'done')),
    { code: 'precondition_failed' },
    'one is to be made',
  )
  const again = holding([], FOUR)
  again.do(start('lost', 'n1'))
  again.do(step('op-lost-n1', 'exclude', 'repair'))
  again.do(evacuate('op-lost-n1', null, 1))
  again.do(start('lost', 'n2'))
  again.do(step('op-lost-n2', 'exclude', 'repair'))
  t.same(again.do(evacuate('op-lost-n2', null, 1)), { moved: 0, last: 1 })
  t.match(chunk(again), { replicas: ['n2'] }, 'the row is the only record of where the bytes may be')
  t.end()
})

t.test('the last copy that can be read stays, however many lost members are listed beside it', (t) => {
  const world = draining(holding([], FOUR))
  world.do(start('lost', 'n1'))
  t.same(world.do(evacuate('op-demote-n2', null, 1)), { moved: 0, last: 1 })
  t.match(chunk(world), { replicas: ['n1', 'n2'] })
  t.end()
})

t.test('no copy of a member that stays is moved', (t) => {
  const world = holding()
  world.do(start('join', 'n4'))
  t.match(world.run(evacuate('op-join-n4', 'n3')), { code: 'precondition_failed' })
  t.match(world.run(evacuate('none', 'n3')), { code: 'not_found' })
  t.end()
})

t.test('a copy on a lost member does not count when the same content is uploaded again', (t) => {
  const world = holding()
  world.do(start('lost', 'n2'))
  const known = { ...fresh('c1'), existing: true, replicas: [] }
  t.match(world.run(putChunks('k2', [known])), { ok: false, code: 'chunks_gone' }, 'one copy is not enough')
  world.do(putChunks('k2', [fresh('c1', { birth: 'birth-again', replicas: ['n1', 'n3'] })]))
  t.match(chunk(world), { birth: 'birth-again', replicas: ['n1', 'n3'], references: 2 })
  t.same(recounted(world), [])
  t.end()
})

t.test('no new copy is listed on a node that may not hold copies', (t) => {
  const world = holding(['n3'])
  const task = world.get(
    chunkKeys.repair({ target: 'n3', copies: 2, birth: 'birth-c1', id: 'c1' }),
  ) as RepairRecord
  world.do(start('demote', 'n3'))
  walk(world, 'op-demote-n3', ['demote', 'drain', 'verify'])
  world.do({ type: 'addReplica', ...name, node: 'n3', permit: task.permit })
  t.match(chunk(world), { replicas: ['n1', 'n2'], owed: ['n3'] }, 'a late copy is not listed')
  world.do(putChunks('k2', [fresh('c2', { replicas: ['n1', 'n2', 'n3'], missing: [] })]))
  t.same(world.get(chunkKeys.chunk('acme', 'c2'))?.replicas, ['n1', 'n2'], 'nor one of an upload')
  const few = world.run(putChunks('k3', [fresh('c3', { replicas: ['n1', 'n3'], missing: [] })]))
  t.match(
    few,
    { ok: false, code: 'chunks_gone', chunks: ['c3'] },
    'and it does not count for an acknowledgement',
  )
  t.end()
})
