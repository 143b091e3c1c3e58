/** Rows that are kept decoded: none is ever older than what the database holds, and there are not more than may be. */
import t, { type Test } from 'tap'
import { bucketKeys } from '../../src/state-machine/buckets/keys.ts'
import { limitKeys } from '../../src/state-machine/limits/keys.ts'
import { tenantKeys } from '../../src/state-machine/tenants/keys.ts'
import type { RowKey } from '../../src/state-machine/base/row-key.ts'
import { RowCache } from '../../src/store/rows/row-cache.ts'
import { encodeRow, keyBytes } from '../../src/store/rows/row-codec.ts'
import { deferred } from '../helpers/async.ts'
import { heldBatches, StoreWorld } from './store-world.ts'

const KEY = { tenantId: 'acme', accountId: null, name: null, scopes: 'read', expiresAt: null } as const

async function worldWithKey(t: Parameters<typeof StoreWorld.withBucket>[0]): Promise<StoreWorld> {
  const world = await StoreWorld.withBucket(t)
  await world.do({ type: 'createAccessKey', accessKeyId: 'AK1', secret: Buffer.from('s'), ...KEY })
  return world
}

/** Reads of the database from here on. */
function countedReads(t: Test, world: StoreWorld): () => number {
  const { db } = world.store.stateMachine.handle.current
  const read = db.getSync.bind(db)
  let reads = 0
  t.intercept(db, 'getSync', {
    value: (...asked: Parameters<typeof read>) => {
      reads += 1
      return read(...asked)
    },
  })
  return () => reads
}

t.test(
  'rows that each request reads are read from the database once, also where there is none',
  async (t) => {
    const world = await worldWithKey(t)
    const { reader } = world.store
    const { id } = world.photos
    const reads = countedReads(t, world)
    const rows = (): unknown[] => [
      reader.get(tenantKeys.tenant('acme')),
      reader.get(tenantKeys.accessKey('AK1')),
      reader.get(bucketKeys.bucket('acme', 'photos')),
      reader.get(bucketKeys.bucketPolicy(id)),
      reader.get(limitKeys.limits('acme')),
    ]
    const first = rows()
    const before = reads()
    t.same(rows(), first)
    t.same(rows(), first)
    t.equal(reads(), before)
    t.equal(first[3], undefined)
  },
)

t.test('a change is seen by the first read after it is applied', async (t) => {
  const world = await worldWithKey(t)
  const { reader } = world.store
  const { id } = world.photos
  const key = () => reader.get(tenantKeys.accessKey('AK1'))
  const policy = () => reader.get(bucketKeys.bucketPolicy(id))
  const tenant = () => reader.get(tenantKeys.tenant('acme'))
  const bucket = () => reader.get(bucketKeys.bucket('acme', 'photos'))
  const limits = () => reader.get(limitKeys.limits('acme'))

  t.equal(key()?.status, 'active')
  const rotated = { accessKeyId: 'AK1', tenantId: 'acme', secret: Buffer.from('z') } as const
  await world.do({ type: 'rotateAccessKey', ...rotated, scopes: null, expiresAt: null })
  t.equal(key()?.version, 2)
  await world.do({ type: 'revokeAccessKey', accessKeyId: 'AK1', tenantId: 'acme', reason: 'lost' })
  t.equal(key()?.status, 'revoked')

  t.equal(policy(), undefined)
  const named = { tenantId: 'acme', name: 'photos' } as const
  await world.do({ type: 'setBucketPolicy', ...named, policy: '{"one":1}' })
  t.equal(policy()?.policy, '{"one":1}')
  await world.do({ type: 'setBucketPolicy', ...named, policy: '{"two":2}' })
  t.equal(policy()?.policy, '{"two":2}')
  await world.do({ type: 'deleteBucketPolicy', ...named })
  t.equal(policy(), undefined)

  t.equal(limits(), undefined)
  const none = {
    requestsPerSecond: null,
    bytesInPerSecond: null,
    bytesOutPerSecond: null,
    burstSeconds: null,
    requestsAtOnce: null,
    uploadsAtOnce: null,
  }
  const tenantLimits = { tenant: { ...none, requestsPerSecond: 7 }, accessKey: none, weight: 1 }
  await world.do({ type: 'setTenantLimits', tenantId: 'acme', limits: tenantLimits })
  t.equal(limits()?.tenant.requestsPerSecond, 7)

  t.equal(bucket()?.versioning, 'Unversioned')
  await world.do({ type: 'setBucketVersioning', ...named, versioning: 'Enabled' })
  t.equal(bucket()?.versioning, 'Enabled')

  t.equal(tenant()?.status, 'active')
  await world.do({ type: 'disableTenant', tenantId: 'acme', reason: 'unpaid' })
  t.equal(tenant()?.status, 'disabled')
})

t.test(
  'while a write is under way its rows are those of the database, and none of before is kept',
  async (t) => {
    const world = await worldWithKey(t)
    const state = world.store.stateMachine.handle.current
    const { db } = state
    const key = tenantKeys.accessKey('AK1')
    const record = state.read(key)
    t.equal(record?.version, 1)
    const [mayLand, landed, mayEnd] = [deferred(), deferred(), deferred()]
    const value = heldBatches(db, async (write) => {
      await mayLand.promise
      await write()
      landed.resolve()
      await mayEnd.promise
    })
    t.intercept(db, 'batch', { value })
    const bytes = keyBytes(key)
    const writing = state.write([
      { type: 'put', key: bytes, value: encodeRow(bytes, { ...record, version: 2 }) },
    ])
    t.equal(state.read(key)?.version, 1, 'not written yet')
    mayLand.resolve()
    await landed.promise
    t.equal(state.read(key)?.version, 2, 'written, and the writer does not know yet')
    mayEnd.resolve()
    await writing
    t.equal(state.read(key)?.version, 2)
  },
)

t.test('the rows of an installed state are its own', async (t) => {
  const [source, target] = [await worldWithKey(t), await worldWithKey(t)]
  await source.do({ type: 'revokeAccessKey', accessKeyId: 'AK1', tenantId: 'acme', reason: 'lost' })
  await source.do({ type: 'disableTenant', tenantId: 'acme', reason: 'unpaid' })
  const { reader, stateMachine } = target.store
  t.equal(reader.get(tenantKeys.accessKey('AK1'))?.status, 'active')
  t.equal(reader.get(tenantKeys.tenant('acme'))?.status, 'active')
  const cut = await source.store.stateMachine.snapshot()
  await stateMachine.install(cut)
  await cut.release()
  t.equal(reader.get(tenantKeys.accessKey('AK1'))?.status, 'revoked')
  t.equal(reader.get(tenantKeys.tenant('acme'))?.status, 'disabled')
})

t.test('a row that readers share cannot be changed', async (t) => {
  const world = await worldWithKey(t)
  const row = world.store.reader.get(bucketKeys.bucket('acme', 'photos'))
  t.throws(() => Object.assign(row ?? {}, { name: 'other' }), TypeError)
})

t.test('there are at most two generations of rows, by count and by bytes, and those in use stay', (t) => {
  const stored = (bytes: number) => ({ row: {}, value: Buffer.alloc(bytes) })
  const name = (n: number): RowKey => tenantKeys.tenant(`t${n}`)
  const byCount = new RowCache({ countMax: 10, weightMax: 1e9 })
  byCount.keep(name(0), stored(1))
  for (let n = 1; n < 1_000; n++) {
    byCount.keep(name(n), stored(1))
    t.ok(byCount.size <= 20)
    t.ok(byCount.get(name(0)), 'asked for again and again')
  }
  t.equal(byCount.get(name(1)), undefined)
  const byBytes = new RowCache({ countMax: 1e9, weightMax: 10_000 })
  for (let n = 0; n < 1_000; n++) byBytes.keep(name(n), stored(1_000))
  t.ok(byBytes.size <= 20)
  t.end()
})

t.test('rows of objects are not kept', (t) => {
  const cache = new RowCache()
  for (const key of ['in\0b1\0object\0k', 'chunk\0acme\0c1', 'bucketX', 'in\0b1'])
    cache.keep(key, { row: {}, value: Buffer.alloc(1) })
  t.equal(cache.size, 0)
  t.end()
})
