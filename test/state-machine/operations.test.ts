/** Operations: how they start, advance, count and end. */
import t from 'tap'
import { longOperationKeys } from '../../src/state-machine/long-operations/keys.ts'
import type { Command } from '../../src/state-machine/commands.ts'
import { addCopy, type MapWorld, putChunks, startOperation, worldAtLevel2 } from './map-world.ts'

type Action = Extract<Command, { type: 'setOperationStatus' }>['action']

const set = (action: Action, operationId = 'op1') =>
  ({
    type: 'setOperationStatus',
    operationId,
    action,
    error: action === 'fail' ? 'a disk is gone' : null,
  }) as const
const advance = (from: string, cursor: string, blobsTotal = 1) =>
  ({
    type: 'advanceOperation',
    operationId: 'op1',
    from,
    cursor,
    phase: 'walking',
    counted: { blobsTotal },
  }) as const
const move = (chunkId: string, target: string) =>
  ({
    type: 'planCopies',
    operation: 'op1',
    moves: [{ tenantId: 'acme', chunkId, birth: `birth-${chunkId}`, target, replaces: null, copiesKept: 2 }],
  }) as const
const refused = { ok: false, code: 'precondition_failed' }

function started(): MapWorld {
  const world = worldAtLevel2()
  world.do(startOperation('op1'))
  return world
}

t.test('startOperation', (t) => {
  t.test('queues it, and the same id again returns the present operation', (t) => {
    const world = started()
    world.do(advance('', 'a'))
    const again = world.do(startOperation('op1'))
    t.match(again, { operationId: 'op1', kind: 'rebalance', status: 'running', cursor: 'a' })
    t.end()
  })

  t.test('not_found when its tenant or bucket does not exist, invalid_argument when its id is empty', (t) => {
    const world = worldAtLevel2()
    const ask = startOperation('op1')
    t.match(world.run({ ...ask, tenantId: 'unknown' }), { code: 'not_found' })
    t.match(world.run({ ...ask, tenantId: 'acme', bucket: 'none' }), { code: 'not_found' })
    t.match(world.run({ ...ask, tenantId: 'acme', bucket: 'photos' }), { ok: true })
    t.match(world.run(startOperation('')), { code: 'invalid_argument' })
    t.end()
  })

  t.test('precondition_failed when 16 are unfinished', (t) => {
    const world = worldAtLevel2()
    for (let i = 0; i < 16; i++) world.do(startOperation(`op${i}`))
    t.match(world.run(startOperation('one-more')), refused)
    world.do(set('cancel', 'op3'))
    t.match(world.run(startOperation('one-more')), { ok: true })
    t.end()
  })

  t.test('removes the oldest of more than 256 finished ones', (t) => {
    const world = worldAtLevel2()
    for (let i = 0; i < 258; i++) {
      world.do(startOperation(`op${i}`))
      world.do(set('cancel', `op${i}`))
    }
    t.same(
      ['op0', 'op1', 'op2', 'op257'].map((id) => world.get(longOperationKeys.operation(id)) !== undefined),
      [false, false, true, true],
    )
    t.equal(world.get(longOperationKeys.operationList())?.finished.length, 256)
    t.end()
  })
  t.end()
})

t.test('advanceOperation', (t) => {
  t.test('precondition_failed when another driver has moved the cursor: nothing is counted twice', (t) => {
    const world = started()
    world.do(advance('', 'a'))
    t.match(world.run(advance('', 'a')), refused)
    t.match(world.do(advance('a', 'b', 4)), { cursor: 'b', status: 'running', progress: { blobsTotal: 5 } })
    t.end()
  })

  t.test(
    'precondition_failed while it is paused and when it has ended, not_found when it does not exist',
    (t) => {
      const world = started()
      world.do(set('pause'))
      t.match(world.run(advance('', 'a')), refused)
      world.do(set('cancel'))
      t.match(world.run(advance('', 'a')), refused)
      t.match(world.run({ ...advance('', 'a'), operationId: 'none' }), { code: 'not_found' })
      t.end()
    },
  )
  t.end()
})

t.test('setOperationStatus', (t) => {
  t.test('pauses, resumes and ends; repeating an action changes nothing; an ended one stays', (t) => {
    const world = started()
    for (const [action, status] of [
      ['pause', 'paused'],
      ['resume', 'running'],
      ['fail', 'failed'],
    ] as const) {
      for (let i = 0; i < 2; i++) t.match(world.do(set(action)), { status })
    }
    t.match(world.get(longOperationKeys.operation('op1')), { error: 'a disk is gone', finishedAt: Number })
    for (const action of ['pause', 'resume', 'cancel', 'finish'] as const)
      t.match(world.run(set(action)), refused)
    t.match(world.run(set('pause', 'none')), { code: 'not_found' })
    t.end()
  })

  t.test('precondition_failed when it would finish with copies still to be made', (t) => {
    const world = started()
    world.do(putChunks('k', ['c1']))
    world.do(move('c1', 'n3'))
    t.match(world.run(set('finish')), refused)
    world.do(addCopy(world, 'c1', 'n3'))
    t.match(world.do(set('finish')), { status: 'succeeded', progress: { tasksOpen: 0 } })
    t.end()
  })
  t.end()
})

t.test('tasks of an operation', (t) => {
  const progress = (world: MapWorld) => world.get(longOperationKeys.operation('op1'))?.progress

  t.test('are counted when they are granted, made, or end without a copy', (t) => {
    const world = started()
    world.do(putChunks('k', ['c1']))
    world.do(putChunks('j', ['c2']))
    for (const id of ['c1', 'c2']) world.do(move(id, 'n3'))
    t.match(progress(world), { tasksOpen: 2, bytesMoved: 0 })
    world.do(addCopy(world, 'c1', 'n3'))
    t.match(progress(world), { tasksOpen: 1, blobsDone: 1, bytesMoved: 38, skipped: 0 })
    world.do({
      type: 'deleteObject',
      tenantId: 'acme',
      bucket: 'photos',
      key: 'j',
      versionId: null,
      ifMatch: null,
    })
    const chunks = [{ tenantId: 'acme', chunkId: 'c2', birth: 'birth-c2', condemnedAt: world.index }]
    world.do({ type: 'collectChunks', chunks })
    t.match(progress(world), { tasksOpen: 0, blobsDone: 1, skipped: 1 })
    t.end()
  })

  t.test('are granted only while it runs', (t) => {
    const world = started()
    world.do(putChunks('k', ['c1']))
    world.do(set('pause'))
    t.match(world.run(move('c1', 'n3')), refused)
    world.do(set('resume'))
    t.match(world.run(move('c1', 'n3')), { ok: true })
    t.match(world.run({ ...move('c1', 'n4'), operation: 'none' }), { code: 'not_found' })
    t.end()
  })

  t.test('that replace lost copies are counted for the recovery that granted them', (t) => {
    const world = worldAtLevel2()
    world.do(putChunks('k', ['c1']))
    const copies = [{ tenantId: 'acme', chunkId: 'c1', birth: 'birth-c1' }]
    world.do({ type: 'dropReplicas', node: 'n1', copies, operation: 'op1' })
    t.match(progress(world), { tasksOpen: 1 })
    world.do(addCopy(world, 'c1', 'n1'))
    t.match(progress(world), { tasksOpen: 0, bytesMoved: 38 })
    t.end()
  })
  t.end()
})
