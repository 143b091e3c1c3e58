/** Answers that lie in several rows, while the rows change. */
import t from 'tap'
import { versionKeys } from '../../src/state-machine/versions/keys.ts'
import { tenantKeys } from '../../src/state-machine/tenants/keys.ts'
import type { ObjectRecord } from '../../src/state-machine/versions/records.ts'
import { encodeRow, keyBytes } from '../../src/store/rows/row-codec.ts'
import { put } from '../state-machine/map-world.ts'
import { heldBatches, StoreWorld } from './store-world.ts'
import { lookUpVersion } from '../../src/store/reads/version-lookup.ts'
import { pageOfAccessKeys } from '../../src/store/reads/access-key-listing.ts'

const SPINS_MAX = 10_000_000

t.test('a version that becomes the newest between two reads of one lookup is found', async (t) => {
  const world = await StoreWorld.withBucket(t)
  await world.do({ type: 'setBucketVersioning', tenantId: 'acme', name: 'photos', versioning: 'Enabled' })
  const older = (await world.do(put('k', { kind: 'empty' }, 0))).object
  await world.do(put('k', { kind: 'empty' }, 0))
  const { reader, stateMachine } = world.store
  const { photos } = world
  const state = stateMachine.handle.current
  const { db } = state
  const [newest, below] = [
    keyBytes(versionKeys.object(photos.id, 'k')),
    keyBytes(versionKeys.version(photos.id, 'k', older.versionId)),
  ]
  const promoted: ObjectRecord = { ...older, newer: null }
  const read = db.getSync.bind(db)
  // LevelDB begins with the write when the first of the reads is over.
  let begin = (): void => {}
  let landing: Promise<void> = Promise.resolve()
  await new Promise<void>((asked) => {
    const value = heldBatches(db, (write) => {
      asked()
      return new Promise((resolve) => (begin = () => resolve(write())))
    })
    t.intercept(db, 'batch', { value })
    landing = state.write([
      { type: 'put', key: newest, value: encodeRow(newest, promoted) },
      { type: 'del', key: below },
    ])
  })
  let reads = 0
  t.intercept(db, 'getSync', {
    value: (...asked: Parameters<typeof read>) => {
      const answer = read(...asked)
      if (reads++ > 0) return answer
      begin()
      for (let spins = 0; read(below) !== undefined; spins++)
        if (spins > SPINS_MAX) throw new Error('the write did not land')
      return answer
    },
  })
  t.match(lookUpVersion(reader, photos, { key: 'k', versionId: older.versionId }), {
    versionId: older.versionId,
  })
  t.equal(reads, 2, 'the write landed between them')
  await landing
})

t.test('a key that is removed between the reads of the index and of its row is still listed', async (t) => {
  const world = await StoreWorld.withBucket(t)
  const about = { tenantId: 'acme', accountId: null, name: null, scopes: 'read', expiresAt: null } as const
  const secret = Buffer.from('s')
  await world.do({ type: 'createAccessKey', accessKeyId: 'AK1', secret, ...about })
  const { reader, stateMachine } = world.store
  const { db } = stateMachine.handle.current
  const row = keyBytes(tenantKeys.accessKey('AK1'))
  const read = db.getSync.bind(db)
  let landing: Promise<void> | undefined
  t.intercept(db, 'getSync', {
    value: (...asked: Parameters<typeof read>) => {
      landing ??= db.batch(
        [
          { type: 'del', key: row },
          { type: 'del', key: keyBytes(tenantKeys.tenantAccessKey('acme', 'AK1')) },
        ],
        { sync: false },
      )
      for (let spins = 0; read(row) !== undefined; spins++)
        if (spins > SPINS_MAX) throw new Error('the write did not land')
      return read(...asked)
    },
  })
  t.match(await pageOfAccessKeys(reader, 'acme', { limit: 10 }), {
    items: [{ accessKeyId: 'AK1' }],
    next: null,
  })
  t.ok(landing, 'it was forgotten meanwhile')
  await landing
  t.same((await pageOfAccessKeys(reader, 'acme', { limit: 10 })).items, [])
})
