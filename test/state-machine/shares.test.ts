/** Operations in which each node does a share: shares are summed, may be reported repeatedly, and the last one ends the operation. */
import t from 'tap'
import { longOperationKeys } from '../../src/state-machine/long-operations/keys.ts'
import { chunkKeys } from '../../src/state-machine/chunks/keys.ts'
import type { LongOperationShare } from '../../src/state-machine/long-operations/records.ts'
import { type MapWorld, startOperation, worldWithBucket } from './map-world.ts'

const share = (copies: number, isDone = false, lost = 0): LongOperationShare => {
  return { isDone, progress: isDone ? 1 : 0.5, copies, bytes: copies * 100, lost }
}
const report = (node: string, reported: LongOperationShare) =>
  ({ type: 'reportShare', operationId: 'op1', node, share: reported }) as const
const act = (action: 'pause' | 'cancel') =>
  ({ type: 'setOperationStatus', operationId: 'op1', action, error: null }) as const
const refused = { ok: false, code: 'precondition_failed' }

function started(): MapWorld {
  const world = worldWithBucket()
  world.do({ ...startOperation('op1'), kind: 'scrub', nodes: ['n1', 'n2'] })
  return world
}

t.test('reportShare', (t) => {
  t.test('sums the last reports of the nodes, however often they report', (t) => {
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
    t.match(
      world.get(longOperationKeys.operation('op1'))?.progress,
      { blobsDone: 6 },
      'a node may start again',
    )
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
    t.same(world.get(longOperationKeys.operationList()), { unfinished: [], finished: ['op1'] })
    t.end()
  })

  t.test(
    'refuses a share of a node without one, of no operation, or while it is paused or cancelled',
    (t) => {
      const world = started()
      t.match(world.run(report('n3', share(1))), refused)
      t.match(world.run({ ...report('n1', share(1)), operationId: 'none' }), { code: 'not_found' })
      for (const action of ['pause', 'cancel'] as const) {
        world.do(act(action))
        t.match(world.run(report('n1', share(1))), refused, action)
      }
      t.end()
    },
  )
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
  t.test('does not change a cancelled operation, and records the result all the same', (t) => {
    const world = worldWithBucket()
    world.do({ ...startOperation('op1'), kind: 'recount' })
    t.match(world.run(act('pause')), refused, 'a snapshot cannot be read later')
    world.do(act('cancel'))
    world.do({ ...finish, differences: 1, first: 'a sum differs' })
    t.equal(world.get(longOperationKeys.operation('op1'))?.status, 'cancelled')
    t.match(world.get(chunkKeys.settings()), {
      collectionHalted: { reason: 'recount: a sum differs' },
      lastRecount: { node: 'n1', rows: 9, differences: 1 },
    })
    t.end()
  })

  t.test('keeps the halt of an earlier one, because only operators end it', (t) => {
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
