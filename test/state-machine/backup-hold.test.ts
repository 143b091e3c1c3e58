/** The hold of a backup: what the collection leaves while one runs. [docs/adr/0086-backups.md] */
import t from 'tap'
import { chunkKeys } from '../../src/state-machine/chunks/keys.ts'
import { HOLD_MS } from '../../src/state-machine/long-operations/backups.ts'
import { longOperationKeys } from '../../src/state-machine/long-operations/keys.ts'
import { fresh, type MapWorld, putChunks, startOperation, worldAtLevel2 } from './map-world.ts'

const backup = (operationId: string) =>
  ({
    ...startOperation(operationId),
    kind: 'backup',
    backup: { backupId: 'b1', target: 'directory:/mnt/backups' },
  }) as const
const remove = (key: string) =>
  ({ type: 'deleteObject', tenantId: 'acme', bucket: 'photos', key, versionId: null, ifMatch: null }) as const
const end = (operationId: string, action: 'finish' | 'fail' | 'cancel' | 'pause') =>
  ({ type: 'setOperationStatus', operationId, action, error: null }) as const
const step = (operationId: string, from = '') =>
  ({ type: 'advanceOperation', operationId, from, cursor: from, phase: 'copying', counted: {} }) as const
const chunk = (world: MapWorld, id: string) => world.get(chunkKeys.chunk('acme', id))

/** An object of one chunk, and the removal of it. */
function put(world: MapWorld, id: string): void {
  world.do(putChunks(`key-${id}`, [fresh(id)]))
}
function condemn(world: MapWorld, id: string): void {
  world.do(remove(`key-${id}`))
}
function collect(world: MapWorld, id: string): boolean {
  const condemnedAt = chunk(world, id)?.condemnedAt ?? 0
  world.do({
    type: 'collectChunks',
    chunks: [{ tenantId: 'acme', chunkId: id, birth: `birth-${id}`, condemnedAt }],
  })
  return chunk(world, id) === undefined
}

t.test('while a backup runs', async (t) => {
  t.test('a chunk that was condemned after its start stays, one condemned before goes', async (t) => {
    const world = worldAtLevel2()
    put(world, 'before')
    put(world, 'during')
    condemn(world, 'before')
    world.do(backup('op1'))
    condemn(world, 'during')
    t.equal(collect(world, 'before'), true)
    t.equal(collect(world, 'during'), false)
  })

  for (const action of ['finish', 'fail', 'cancel'] as const) {
    t.test(`the chunk goes after "${action}"`, async (t) => {
      const world = worldAtLevel2()
      put(world, 'c1')
      world.do(backup('op1'))
      condemn(world, 'c1')
      world.do(step('op1'))
      t.equal(collect(world, 'c1'), false)
      world.do(end('op1', action))
      t.equal(collect(world, 'c1'), true)
    })
  }

  t.test('a pause keeps the chunk', async (t) => {
    const world = worldAtLevel2()
    put(world, 'c1')
    world.do(backup('op1'))
    condemn(world, 'c1')
    world.do(end('op1', 'pause'))
    t.equal(collect(world, 'c1'), false)
  })

  t.test('a backup without a step for HOLD_MS holds nothing, and makes no step any more', async (t) => {
    const world = worldAtLevel2()
    put(world, 'c1')
    world.do(backup('op1'))
    condemn(world, 'c1')
    world.time += HOLD_MS
    t.equal(collect(world, 'c1'), true)
    t.match(world.run(step('op1')), { ok: false, code: 'precondition_failed', message: /no longer held/ })
  })

  t.test('each step renews the hold', async (t) => {
    const world = worldAtLevel2()
    put(world, 'c1')
    world.do(backup('op1'))
    condemn(world, 'c1')
    for (let n = 0; n < 3; n++) {
      world.time += HOLD_MS / 2
      world.do(step('op1'))
    }
    t.equal(collect(world, 'c1'), false)
    const heldUntil = world.get(longOperationKeys.operation('op1'))?.backup?.heldUntil
    t.ok((heldUntil ?? 0) >= world.time + HOLD_MS / 2)
  })
})

t.test('startOperation of a backup', async (t) => {
  t.test('precondition_failed while another one is unfinished', async (t) => {
    const world = worldAtLevel2()
    world.do(backup('op1'))
    t.match(world.run(backup('op2')), { ok: false, code: 'precondition_failed', message: /"op1"/ })
    world.do(end('op1', 'cancel'))
    t.match(world.run(backup('op2')), { ok: true })
  })

  t.test('invalid_argument without a target, and for another kind with one', async (t) => {
    const world = worldAtLevel2()
    const { backup: run, ...bare } = backup('op1')
    t.match(world.run(bare), { ok: false, code: 'invalid_argument' })
    t.match(world.run({ ...startOperation('op1'), backup: run }), { ok: false, code: 'invalid_argument' })
  })
})
