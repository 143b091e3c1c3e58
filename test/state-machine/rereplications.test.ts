/** Recoveries: they start by themselves, count every copy once, and end when all copies are made again. */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import type { LongOperation } from '../../src/state-machine/long-operations/records.ts'
import type { RepairRecord } from '../../src/state-machine/chunks/records.ts'
import { longOperationKeys } from '../../src/state-machine/long-operations/keys.ts'
import { chunkKeys } from '../../src/state-machine/chunks/keys.ts'
import type { Command } from '../../src/state-machine/commands.ts'
import { ALL_PLANNED } from '../../src/state-machine/long-operations/operations.ts'
import { rereplicationOf } from '../../src/state-machine/long-operations/rereplications.ts'
import {
  addCopy,
  dropCopy,
  MapWorld,
  putChunks,
  remove,
  startOperation,
  worldWithBucket,
} from './map-world.ts'

const lose = (operation: string | null, ids: readonly string[], node = 'n1') => {
  const copies = ids.map((chunkId) => ({ tenantId: 'acme', chunkId, birth: `birth-${chunkId}` }))
  return { type: 'dropReplicas', node, copies, operation } as const
}
const act = (operationId: string, action: 'finish' | 'pause' | 'cancel') =>
  ({ type: 'setOperationStatus', operationId, action, error: null }) as const
const counted = (operationId: string, from = '') =>
  ({
    type: 'advanceOperation',
    operationId,
    from,
    cursor: ALL_PLANNED,
    phase: 'waiting',
    counted: {},
  }) as const
const refused = { ok: false, code: 'precondition_failed' }

function worldWithChunks(): MapWorld {
  const world = worldWithBucket()
  world.do(putChunks('k', ['c1', 'c2', 'c3']))
  return world
}

t.test('recoveries', (t) => {
  t.test('start with the first lost copy, and count lost and restored copies', (t) => {
    const world = worldWithChunks()
    world.do(lose('op1', ['c1', 'c2']))
    t.match(world.get(longOperationKeys.operation('op1')), {
      kind: 'recovery',
      node: 'n1',
      status: 'running',
      cursor: '',
      progress: { blobsTotal: 2, bytesTotal: 76, tasksOpen: 2 },
    })
    world.do(addCopy(world, 'c1', 'n1'))
    t.match(world.get(longOperationKeys.operation('op1'))?.progress, {
      blobsDone: 1,
      bytesMoved: 38,
      tasksOpen: 1,
    })
    t.end()
  })

  t.test('are one for each node, however often a loss is reported or repeated', (t) => {
    const world = worldWithChunks()
    world.do(lose('op1', ['c1', 'c2']))
    world.do(counted('op1'))
    world.do(lose('op2', ['c1', 'c2']))
    t.match(world.get(longOperationKeys.operation('op1')), {
      cursor: ALL_PLANNED,
      progress: { blobsTotal: 2 },
    })
    world.do(addCopy(world, 'c1', 'n1'))
    world.do(lose('op3', ['c1', 'c3']))
    t.match(world.get(longOperationKeys.operation('op1')), {
      cursor: '',
      progress: { blobsTotal: 4, blobsDone: 1, tasksOpen: 3 },
    })
    world.do(lose('op4', ['c2'], 'n2'))
    t.match(rereplicationOf(world, 'n2'), {
      operationId: 'op4',
      progress: { blobsTotal: 0 },
      error: /last one/,
    })
    t.same(
      ['op2', 'op3'].map((id) => world.get(longOperationKeys.operation(id))),
      [undefined, undefined],
    )
    t.end()
  })

  t.test('also count losses found without an inventory while they run, but do not start with them', (t) => {
    const world = worldWithChunks()
    world.do(dropCopy('c1', 'n1'))
    t.equal(rereplicationOf(world, 'n1'), undefined)
    world.do(lose('op1', ['c2']))
    world.do(counted('op1'))
    world.do(dropCopy('c3', 'n1'))
    t.match(world.get(longOperationKeys.operation('op1')), {
      cursor: ALL_PLANNED,
      progress: { blobsTotal: 2, tasksOpen: 2 },
    })
    t.end()
  })

  t.test('end when every copy is counted and made again, and not before', (t) => {
    const world = worldWithChunks()
    world.do(lose('op1', ['c1']))
    t.match(world.run(act('op1', 'finish')), refused)
    world.do(addCopy(world, 'c1', 'n1'))
    t.match(world.run(act('op1', 'finish')), refused, 'the count has not ended')
    world.do(counted('op1'))
    t.match(world.do(act('op1', 'finish')), { status: 'succeeded', finishedAt: Number })
    world.do(lose('op2', ['c1']))
    t.match(rereplicationOf(world, 'n1'), { operationId: 'op2', progress: { blobsTotal: 1 } })
    t.end()
  })

  t.test('are neither paused nor cancelled', (t) => {
    const world = worldWithChunks()
    world.do(lose('op1', ['c1']))
    for (const action of ['pause', 'cancel'] as const) t.match(world.run(act('op1', action)), refused, action)
    t.end()
  })

  t.test('report if the lost copy was the last one listed', (t) => {
    const world = worldWithChunks()
    world.do(lose('op1', ['c1']))
    world.do(addCopy(world, 'c1', 'n1'))
    world.do(dropCopy('c2', 'n2'))
    world.do(lose('op1', ['c2']))
    t.match(world.get(longOperationKeys.operation('op1')), {
      error: /last one listed/,
      progress: { blobsTotal: 1 },
    })
    t.same(world.get(chunkKeys.chunk('acme', 'c2'))?.replicas, ['n1'], 'the row still names its node')
    t.end()
  })

  t.test('start with any number of unfinished operations, and do not count in their limit', (t) => {
    const world = worldWithChunks()
    for (let n = 0; n < 16; n++) world.do(startOperation(`requested${n}`))
    t.match(world.run(lose('op1', ['c1'])), { ok: true })
    world.do(act('requested3', 'cancel'))
    t.match(world.run(startOperation('one-more')), { ok: true })
    t.end()
  })

  t.test('refuse an id that is taken', (t) => {
    const world = worldWithChunks()
    world.do(startOperation('op1'))
    t.match(world.run(lose('op1', ['c1'])), refused)
    t.match(world.run(lose('', ['c1'])), { ok: false, code: 'invalid_argument' })
    world.do(lose('op2', ['c1']))
    t.match(world.run(lose('op2', ['c3'], 'n2')), refused, 'of another node')
    world.do(counted('op2'))
    world.do(addCopy(world, 'c1', 'n1'))
    world.do(act('op2', 'finish'))
    t.match(world.run(lose('op2', ['c1'])), refused, 'or of an ended one')
    t.end()
  })

  t.test('always count the sum of made, given up and open copies, after any history', (t) => {
    const chunk = fc.constantFrom('c1', 'c2', 'c3')
    const node = fc.constantFrom('n1', 'n2')
    const step = fc.record({
      do: fc.constantFrom('lose', 'drop', 'add', 'delete', 'put', 'counted'),
      chunk,
      node,
    })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40, size: 'max' }), (steps) => {
        const world = worldWithChunks()
        for (const [n, { do: what, chunk: id, node: at }] of steps.entries()) {
          world.run(commandOf(world, { what, id, at, n }))
          for (const [key, row] of world.rows) {
            if (!key.startsWith('operation\u0000')) continue
            const { operationId, progress } = row as LongOperation
            const { blobsTotal, blobsDone, skipped, tasksOpen } = progress
            assert.equal(blobsTotal, blobsDone + skipped + tasksOpen)
            const tasks = [...world.rows.values()].filter(
              (task) => 'permit' in task && (task as RepairRecord).operation === operationId,
            )
            assert.equal(tasksOpen, tasks.length)
          }
        }
      }),
      { seed: 31, numRuns: 150 },
    )
    t.end()
  })
  t.end()
})

function commandOf(world: MapWorld, step: { what: string; id: string; at: string; n: number }): Command {
  const { what, id, at, n } = step
  const birth = world.get(chunkKeys.chunk('acme', id))?.birth ?? `birth-${id}`
  const copies = [{ tenantId: 'acme', chunkId: id, birth }]
  switch (what) {
    case 'lose':
      return { type: 'dropReplicas', node: at, copies, operation: `op${n}` }
    case 'drop':
      return dropCopy(id, at, birth)
    case 'add':
      return addCopy(world, id, at, birth)
    case 'delete':
      return remove('k')
    case 'put':
      return putChunks(
        'k',
        ['c1', 'c2', 'c3'].map((name) => renewed(name, n)),
      )
    default:
      return counted(rereplicationOf(world, at)?.operationId ?? 'none', rereplicationOf(world, at)?.cursor)
  }
}

/** An upload with another birth, which takes the row over if it has too few copies. */
function renewed(id: string, n: number) {
  const copies = { existing: false, replicas: ['n1', 'n2'], missing: [] }
  return { id, birth: `birth-${id}${n}`, size: 10, sealedSize: 38, checksum: `sum-${id}`, ...copies }
}
