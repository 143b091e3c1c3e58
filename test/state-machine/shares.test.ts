/** Operations of which each node does a part: the parts are summed, told as often as one likes, and the last one ends it. */
import t from 'tap'
import { operationKeys } from '../../src/state-machine/operations/keys.ts'
import { chunkKeys } from '../../src/state-machine/chunks/keys.ts'
import type { OperationShare } from '../../src/state-machine/operations/records.ts'
import { type MapWorld, startOperation, worldWithBucket } from './map-world.ts'

const share = (copies: number, isDone = false, lost = 0): OperationShare => {
  return { isDone, progress: isDone ? 1 : 0.5, copies, bytes: copies * 100, lost }
}
const report = (node: string, told: OperationShare) =>
  ({ type: 'reportShare', operationId: 'op1', node, share: told }) as const
const act = (action: 'pause' | 'cancel') =>
  ({ type: 'setOperationStatus', operationId: 'op1', action, error: null }) as const
const refused = { ok: false, code: 'precondition_failed' }

function started(): MapWorld {
  const world = worldWithBucket()
  world.do({ ...startOperation('op1'), kind: 'scrub', nodes: ['n1', 'n2'] })
  return world
}

t.test('reportShare', (t) => {
  t.test('sums what the nodes told last, however often they tell it', (t) => {
    const world = started()
    world.do(report('n1', share(5)))
    world.do(report('n1', share(7, false, 1)))
    const seen = world.do(report('n2', share(4)))
    t.match(seen, {
      status: 'running',
      startedAt: Number,
      progress: { blobsDone: 11, bytesMoved: 1_100, checksumFailures: 1, tasksOpen: 0 },
      shares: { n1: { copies: 7 }, n2: { copies: 4 } },
    })
    world.do(report('n1', share(2)))
    t.match(world.get(operationKeys.operation('op1'))?.progress, { blobsDone: 6 }, 'a node may begin anew')
    t.end()
  })

  t.test('ends the operation with the last one, and changes none that is done', (t) => {
    const world = started()
    world.do(report('n1', share(7, true)))
    t.match(world.do(report('n1', share(3))), { status: 'running', progress: { blobsDone: 7 } })
    t.match(world.do(report('n2', share(1, true))), {
      status: 'succeeded',
      finishedAt: Number,
      progress: { blobsDone: 8, blobsTotal: 8 },
    })
    t.match(world.run(report('n2', share(9, true))), refused)
    t.same(world.get(operationKeys.operationList()), { unfinished: [], finished: ['op1'] })
    t.end()
  })

  t.test('takes none of a node without a part, of no operation, or while it is paused or cancelled', (t) => {
    const world = started()
    t.match(world.run(report('n3', share(1))), refused)
    t.match(world.run({ ...report('n1', share(1)), operationId: 'none' }), { code: 'not_found' })
    for (const action of ['pause', 'cancel'] as const) {
      world.do(act(action))
      t.match(world.run(report('n1', share(1))), refused, action)
    }
    t.end()
  })
  t.end()
})

t.test('finishRecount', (t) => {
  const finish = {
    type: 'finishRecount',
    operationId: 'op1',
    node: 'n1',
    rows: 9,
    differences: 0,
    first: null,
  } as const
  t.test('leaves a cancelled operation as it is, and the finding counts all the same', (t) => {
    const world = worldWithBucket()
    world.do({ ...startOperation('op1'), kind: 'recount' })
    t.match(world.run(act('pause')), refused, 'a cut cannot be read later')
    world.do(act('cancel'))
    world.do({ ...finish, differences: 1, first: 'a sum differs' })
    t.equal(world.get(operationKeys.operation('op1'))?.status, 'cancelled')
    t.match(world.get(chunkKeys.settings()), {
      collectionHalted: { reason: 'recount: a sum differs' },
      lastRecount: { node: 'n1', rows: 9, differences: 1 },
    })
    t.end()
  })

  t.test('keeps the halt of an earlier one, for only people end that', (t) => {
    const world = worldWithBucket()
    world.do({ ...finish, operationId: null, differences: 2, first: 'the first' })
    world.do({ ...finish, operationId: null })
    t.match(world.get(chunkKeys.settings()), {
      collectionHalted: { reason: 'recount: the first' },
      lastRecount: { differences: 0 },
    })
    world.do({ type: 'resumeCollection', requestedBy: 'olga', reason: 'looked' })
    const resumed = { requestedBy: 'olga', reason: 'looked', at: Number }
    t.match(world.get(chunkKeys.settings()), { collectionHalted: null, collectionResumed: resumed })
    world.do({ type: 'resumeCollection', requestedBy: 'otto', reason: 'again' })
    t.match(world.get(chunkKeys.settings()), { collectionResumed: resumed }, 'nothing was halted')
    t.end()
  })
  t.end()
})
