/** Answers that lie in several rows, while these change. */
import t from 'tap'
import { keys } from '../../src/state-machine/keys.ts'
import type { ObjectRecord } from '../../src/state-machine/records.ts'
import { encodeRow, keyBytes } from '../../src/store/row-codec.ts'
import { createTenant, deleteTenant, put } from '../state-machine/map-world.ts'
import { StoreWorld } from './store-world.ts'

const SPINS_MAX = 10_000_000

t.test('a version that comes up to be the newest between two reads of one question is found', async (t) => {
  const world = await StoreWorld.withBucket(t)
  await world.do({ type: 'setBucketVersioning', tenantId: 'acme', name: 'photos', versioning: 'Enabled' })
  const older = (await world.do(put('k', { kind: 'empty' }, 0))).object
  await world.do(put('k', { kind: 'empty' }, 0))
  const { reader, stateMachine } = world.store
  const { photos } = world
  const { db } = stateMachine.handle.current
  const [newest, below] = [
    keyBytes(keys.object(photos.id, 'k')),
    keyBytes(keys.version(photos.id, 'k', older.versionId)),
  ]
  const promoted: ObjectRecord = { ...older, newer: null }
  const read = db.getSync.bind(db)
  let reads = 0
  let landing: Promise<void> = Promise.resolve()
  t.intercept(db, 'getSync', {
    value: (...asked: Parameters<typeof read>) => {
      const answer = read(...asked)
      if (reads++ > 0) return answer
      landing = db.batch([
        { type: 'put', key: newest, value: encodeRow(newest, promoted) },
        { type: 'del', key: below },
      ])
      for (let spins = 0; read(below) !== undefined; spins++)
        if (spins > SPINS_MAX) throw new Error('the write did not land')
      return answer
    },
  })
  t.match(reader.version(photos, 'k', older.versionId), { versionId: older.versionId })
  t.equal(reads, 2, 'the write landed between them')
  await landing
})

t.test('access keys that go with their tenant are listed all or not at all', async (t) => {
  const world = await StoreWorld.open(t)
  const secret = Uint8Array.of(1)
  for (let n = 0; n < 40; n++) {
    const [tenantId, operationId] = [`t${n}`, `op${n}`]
    const accessKeyIds = Array.from({ length: 40 }, (_, k) => `AK${n}K${k}`)
    const key = { tenantId, name: null, scopes: 'read', secret, expiresAt: null }
    const step = { kind: 'accessKeys', accessKeyIds } as const
    await world.apply([
      createTenant(tenantId),
      ...accessKeyIds.map((accessKeyId) => ({ type: 'createAccessKey' as const, accessKeyId, ...key })),
      { type: 'disableTenant', tenantId, reason: 'unpaid', accessKeyIds },
      deleteTenant(tenantId, operationId),
    ])
    const erased = world.do({ type: 'eraseTenant', tenantId, operationId, step })
    for (const { length } of await listedUntil(world, tenantId, erased)) t.ok(length === 0 || length === 40)
    await world.do({ type: 'shredTenant', tenantId, operationId })
  }
})

/** Every page that was read until `end`, and one more. */
async function listedUntil(world: StoreWorld, tenantId: string, end: Promise<unknown>) {
  const pages: (readonly unknown[])[] = []
  let isOver = false
  void end.then(() => (isOver = true))
  for (let more = true; more; more = !isOver)
    pages.push((await world.store.reader.accessKeys(tenantId, '', 100)).items)
  await end
  return pages
}
