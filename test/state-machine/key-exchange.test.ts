/** The exchange of a tenant's data key, entry by entry. [docs/adr/0088-exchange-of-tenant-keys.md] */
import t from 'tap'
import { bodyKeys } from '../../src/state-machine/bodies/keys.ts'
import { longOperationKeys } from '../../src/state-machine/long-operations/keys.ts'
import { usageKeys } from '../../src/state-machine/usage/keys.ts'
import { versionKeys } from '../../src/state-machine/versions/keys.ts'
import {
  acme,
  bodyOf,
  chunkOf,
  endExchange,
  exchange,
  exchanging,
  left,
  putSmall,
  reseal,
  resealed,
  resealedBody,
} from './key-exchange-samples.ts'
import {
  ANYTHING,
  createBucket,
  createTenant,
  deleteTenant,
  disableTenant,
  found,
  fresh,
  MapWorld,
  NO_SETTINGS,
  putChunks,
  recounted,
  releaseAll,
  remove,
  rowsOf,
  worldWithBucket,
} from './map-world.ts'

const bodyRow = (world: MapWorld, key: string) => {
  const { bucketId, bodyId } = bodyOf(world, key)
  return world.get(bodyKeys.inlineBody(bucketId, bodyId))
}
const status = (world: MapWorld, operationId: string, action: 'pause' | 'resume' | 'cancel' | 'fail') =>
  ({ type: 'setOperationStatus', operationId, action, error: null }) as const

function copy(world: MapWorld, key: string, to: string): void {
  const source = { bucket: 'photos', key, versionId: bodyOf(world, key).bodyId }
  const settings = { contentType: 'text/plain', metadata: {}, masterKeyId: 'mk-1', ...NO_SETTINGS }
  world.do({
    type: 'copyObject',
    tenantId: 'acme',
    bucket: 'photos',
    key: to,
    source,
    precondition: ANYTHING,
    ...settings,
  })
}

t.test('exchangeTenantKey', async (t) => {
  t.test('gives the tenant another key and keeps the one before', async (t) => {
    const world = exchanging('c1', 'c2')
    t.match(acme(world), {
      dataKeyVersion: 2,
      dataKey: Uint8Array.of(2, 2),
      dedupKey: Uint8Array.of(2),
      formerKey: { version: 1, dataKey: Uint8Array.of(1), operation: 'op1' },
    })
    t.strictSame(left(world), { chunks: 2, storedBytes: 76, inlineBytes: 0 })
    const { kind, progress } = world.get(longOperationKeys.operation('op1')) ?? {}
    t.match({ kind, progress }, { kind: 'keyExchange', progress: { blobsTotal: 2, bytesTotal: 76 } })
  })

  t.test('repeated with the same operation changes nothing', async (t) => {
    const world = exchanging()
    world.do(exchange('op1'))
    t.equal(acme(world).dataKeyVersion, 2)
  })

  t.test(
    'is refused while an exchange is unfinished, for a version that is not the present one, and at the end of a tenant',
    async (t) => {
      const world = exchanging()
      t.match(world.run(exchange('op2', 2)), { ok: false, code: 'precondition_failed', message: /op1/ })
      world.do(endExchange())
      t.match(world.run(exchange('op2', 1)), { ok: false, code: 'precondition_failed', message: /meanwhile/ })
      disableTenant(world, 'acme')
      t.match(world.run(exchange('op2', 2)), { ok: true }, 'a disabled tenant keeps its data')
      world.do(deleteTenant('acme', 'del'))
      t.match(world.run(exchange('op3', 3)), { ok: false, code: 'precondition_failed', message: /deleting/ })
    },
  )

  t.test('after one that failed keeps both keys and continues it under another operation', async (t) => {
    const world = exchanging('c1')
    world.do(status(world, 'op1', 'fail'))
    world.do(exchange('op2', 2))
    t.match(acme(world), { dataKeyVersion: 2, formerKey: { version: 1, operation: 'op2' } })
    t.match(
      world.run(reseal(world, { chunks: [resealed(world, 'c1')] })),
      { ok: false },
      'the first one may not',
    )
    world.do(reseal(world, { chunks: [resealed(world, 'c1')] }, 'op2'))
    world.do(endExchange('op2'))
  })

  t.test('cannot be cancelled, because new writes have the new key; it can be paused', async (t) => {
    const world = exchanging('c1')
    t.match(world.run(status(world, 'op1', 'cancel')), { ok: false, message: /pause it/ })
    world.do(status(world, 'op1', 'pause'))
    t.match(world.run(reseal(world, { chunks: [resealed(world, 'c1')] })), { ok: false, message: /paused/ })
    world.do(status(world, 'op1', 'resume'))
    world.do(reseal(world, { chunks: [resealed(world, 'c1')] }))
  })
})

t.test('resealBodies of a chunk', async (t) => {
  t.test('names the new copies and gives those before free, in one entry', async (t) => {
    const world = exchanging('c1')
    t.strictSame(rowsOf(world, 'drop'), [])
    t.strictSame(world.do(reseal(world, { chunks: [resealed(world, 'c1')] })), { resealed: 1 })
    t.match(chunkOf(world, 'c1'), {
      birth: 'birth-againc1',
      checksum: 'again-c1',
      replicas: ['n1', 'n3'],
      references: 1,
      keyVersion: 2,
    })
    const drops = rowsOf<{ readonly node: string; readonly birth: string }>(world, 'drop')
    t.strictSame(
      drops.map(({ node, birth }) => [node, birth]),
      [
        ['n1', 'birth-c1'],
        ['n2', 'birth-c1'],
      ],
    )
    t.strictSame(left(world), { chunks: 0, storedBytes: 0, inlineBytes: 0 })
    t.match(world.get(longOperationKeys.operation('op1'))?.progress, {
      blobsDone: 1,
      bytesMoved: 38,
      skipped: 0,
    })
    t.strictSame(recounted(world), [])
  })

  t.test('is skipped when the row is not what was sealed again', async (t) => {
    const world = exchanging('c1')
    const cases = {
      'another birth': { from: 'birth-other' },
      'the birth before': { birth: 'birth-c1' },
      'a session that is not open': { birth: 'unknown-1' },
      'too few copies': { replicas: ['n1'] },
      'no chunk': { chunkId: 'none' },
    }
    for (const [name, more] of Object.entries(cases)) {
      const command = reseal(world, { chunks: [resealed(world, 'c1', more)] })
      t.strictSame(world.do(command), { resealed: 0 }, name)
      t.equal(chunkOf(world, 'c1')?.birth, 'birth-c1', name)
    }
    const [one] = [resealed(world, 'c1')]
    world.do(reseal(world, { chunks: [one] }))
    t.strictSame(
      world.do(reseal(world, { chunks: [resealed(world, 'c1', { birth: 'birth-third' })] })),
      { resealed: 0 },
      'it has the new key',
    )
    t.strictSame(recounted(world), [])
  })

  t.test('keeps references, condemnation and usage, and owes the copies that are missing', async (t) => {
    const world = worldWithBucket()
    world.do(putChunks('a', ['c1']))
    world.do(putChunks('b', [found('c1')]))
    const before = world.get(usageKeys.usage('acme'))
    world.do(exchange('op1'))
    world.do(reseal(world, { chunks: [resealed(world, 'c1', { missing: ['n2'] })] }))
    t.match(chunkOf(world, 'c1'), { references: 2, condemnedAt: null, owed: ['n2'] })
    t.strictSame(world.get(usageKeys.usage('acme')), before)
    t.strictSame(recounted(world), [])
  })

  t.test('is refused when it was sealed with another key than the present one', async (t) => {
    const world = exchanging('c1')
    const old = { ...reseal(world, { chunks: [resealed(world, 'c1')] }), keyVersion: 1 }
    t.match(world.run(old), { ok: false, code: 'precondition_failed' })
    t.match(world.run(reseal(world, {})), { ok: false, code: 'invalid_argument' }, 'and without items')
  })

  t.test('does not touch what is locked but its seal: the version stays what it was', async (t) => {
    const world = new MapWorld()
    world.do(createTenant('acme'))
    world.entry([
      createBucket('photos', { versioning: 'Enabled', objectLockEnabled: true }),
      { type: 'openSession', session: 'birth', node: 'g1', keep: [] },
    ])
    const retention = { mode: 'COMPLIANCE', until: world.time + 1e9 } as const
    world.do({ ...putChunks('k', ['c1']), retention, legalHold: true })
    const version = () => [...world.rows].find(([key]) => key.includes('\u0000object\u0000'))?.[1]
    const before = version()
    world.do(exchange('op1'))
    world.do(reseal(world, { chunks: [resealed(world, 'c1')] }))
    world.do(endExchange())
    t.strictSame(version(), before)
    t.match(before, { retention, legalHold: true })
  })
})

t.test('resealBodies of a small body', async (t) => {
  t.test('replaces the sealed bytes and nothing else', async (t) => {
    const world = worldWithBucket()
    world.do(putSmall('k'))
    const before = world.get(usageKeys.usage('acme'))
    const { bucketId } = bodyOf(world, 'k')
    const version = world.get(versionKeys.object(bucketId, 'k'))
    world.do(exchange('op1'))
    t.strictSame(left(world).inlineBytes, 5)
    t.strictSame(world.do(reseal(world, { bodies: [resealedBody(world, 'k')] })), { resealed: 1 })
    t.match(bodyRow(world, 'k'), { keyVersion: 2, sealed: new Uint8Array(5).fill(9) })
    t.strictSame(world.get(versionKeys.object(bucketId, 'k')), version)
    t.strictSame(world.get(usageKeys.usage('acme')), before)
    t.strictSame(left(world).inlineBytes, 0)
    t.strictSame(recounted(world), [])
  })

  t.test(
    'is skipped for a row that is gone, has another length or the new key, and in a bucket that was made again',
    async (t) => {
      const world = worldWithBucket()
      world.do(putSmall('k'))
      world.do(exchange('op1'))
      for (const more of [
        { bodyId: 'none' },
        { sealed: new Uint8Array(4) },
        { bucketId: 'other' },
        { bucket: 'none' },
      ])
        t.strictSame(world.do(reseal(world, { bodies: [resealedBody(world, 'k', more)] })), { resealed: 0 })
      t.equal(bodyRow(world, 'k')?.keyVersion, undefined)
      world.do(putSmall('k2', 2))
      t.strictSame(world.do(reseal(world, { bodies: [resealedBody(world, 'k2')] })), { resealed: 0 })
      t.strictSame(bodyRow(world, 'k2')?.sealed, new Uint8Array(5).fill(1))
    },
  )

  t.test('that is copied keeps its key, and is counted under it', async (t) => {
    const world = worldWithBucket()
    world.do(putSmall('k'))
    world.do(exchange('op1'))
    copy(world, 'k', 'copy')
    t.equal(left(world).inlineBytes, 10)
    world.do(reseal(world, { bodies: [resealedBody(world, 'k'), resealedBody(world, 'copy')] }))
    t.equal(left(world).inlineBytes, 0)
    copy(world, 'k', 'another')
    t.match(bodyRow(world, 'another'), { keyVersion: 2 })
    t.strictSame(recounted(world), [])
  })
})

t.test('a write during an exchange', async (t) => {
  t.test('with the new key counts as sealed with it', async (t) => {
    const world = exchanging()
    world.do(putChunks('k', [fresh('c1', { keyVersion: 2 })]))
    world.do(putSmall('s', 2))
    t.strictSame(left(world), { chunks: 0, storedBytes: 0, inlineBytes: 0 })
    world.do(remove('k'))
    world.do(remove('s'))
    releaseAll(world)
    t.strictSame(left(world), { chunks: 0, storedBytes: 0, inlineBytes: 0 })
    t.strictSame(recounted(world), [])
  })

  t.test('that began before commits with the former key and keeps it alive', async (t) => {
    const world = exchanging()
    world.do(putChunks('k', ['c1']))
    world.do(putSmall('s'))
    t.strictSame(left(world), { chunks: 1, storedBytes: 38, inlineBytes: 5 })
    t.match(world.run(endExchange()), {
      ok: false,
      code: 'precondition_failed',
      message: /1 chunks and 5 bytes/,
    })
    t.not(acme(world).formerKey, undefined)
  })

  t.test('with a key that was destroyed is refused, so that the client sends it again', async (t) => {
    const world = exchanging()
    world.do(endExchange())
    t.match(world.run(putChunks('k', ['c1'])), { ok: false, code: 'chunks_gone', chunks: ['c1'] })
    t.match(world.run(putSmall('s')), { ok: false, code: 'chunks_gone' })
    t.match(world.run(putSmall('s', 3)), { ok: false, code: 'chunks_gone' }, 'and with one that never was')
    world.do(putSmall('s', 2))
    world.do(putChunks('k', [fresh('c1', { keyVersion: 2 })]))
  })

  t.test('that found a chunk which was sealed again meanwhile commits', async (t) => {
    const world = exchanging('c1')
    world.do(reseal(world, { chunks: [resealed(world, 'c1')] }))
    world.do(putChunks('k2', [found('c1')]))
    t.match(chunkOf(world, 'c1'), { references: 2, birth: 'birth-againc1' })
    t.match(world.run(putChunks('k3', [found('c1', { birth: 'birth-other' })])), {
      ok: false,
      code: 'chunks_gone',
    })
    t.strictSame(recounted(world), [])
  })

  t.test('that takes over a row brings its own key into it', async (t) => {
    const world = exchanging('c1')
    world.do({
      type: 'dropReplicas',
      node: 'n2',
      copies: [{ tenantId: 'acme', chunkId: 'c1', birth: 'birth-c1' }],
      operation: null,
    })
    world.do(putChunks('k2', [fresh('c1', { birth: 'birth-x', keyVersion: 2 })]))
    t.match(chunkOf(world, 'c1'), { birth: 'birth-x', keyVersion: 2, references: 2 })
    t.equal(left(world).chunks, 0)
    t.strictSame(recounted(world), [])
  })
})
