/** The recount finds no difference in rows that apply wrote, and every row that is changed, added or removed otherwise. */
import t from 'tap'
import { usageKeys } from '../../src/state-machine/usage/keys.ts'
import { tenantKeys } from '../../src/state-machine/tenants/keys.ts'
import type { RowKind } from '../../src/state-machine/rows.ts'
import { chunkKeys } from '../../src/state-machine/chunks/keys.ts'
import { bucketKeys } from '../../src/state-machine/buckets/keys.ts'
import type { Row } from '../../src/state-machine/base/view.ts'
import { kindOf } from '../../src/state-machine/base/row-key.ts'
import { NO_USAGE } from '../../src/state-machine/usage/usage.ts'
import {
  addCopy,
  createBucket,
  createTenant,
  dropCopy,
  found,
  fresh,
  MapWorld,
  put,
  putChunks,
  recounted,
  remove,
  releaseAll,
  worldWithBucket,
} from './map-world.ts'
import { attemptAt, deliveries, record, setBounded, TAKEN, requested } from './hook-commands.ts'
import { completeUpload, createUpload, putPart } from './upload-commands.ts'

function busyWorld(): MapWorld {
  const world = worldWithBucket()
  world.do(createTenant('beta'))
  world.do({
    type: 'createBucket',
    tenantId: 'beta',
    name: 'films',
    bucketsMax: 1,
    versioning: 'Unversioned',
    objectLockEnabled: false,
  })
  world.do(put('inline', { kind: 'inline', chunkId: 'ci', sealed: Uint8Array.of(1, 2, 3) }, 30))
  world.do(putChunks('a', [fresh('c1', { missing: ['n3'] }), 'c2', found('c1')]))
  world.do({ ...putChunks('f', [fresh('c1', { birth: 'birth-f' })]), tenantId: 'beta', bucket: 'films' })
  world.do(putChunks('b', [found('c1'), 'c3']))
  world.do(dropCopy('c2', 'n1'))
  world.do(addCopy(world, 'c1', 'n3'))
  world.do({
    type: 'deleteObject',
    tenantId: 'acme',
    bucket: 'photos',
    key: 'b',
    versionId: null,
    ifMatch: null,
  })
  world.do(putChunks('b', ['c4']))
  world.do({
    type: 'deleteObject',
    tenantId: 'acme',
    bucket: 'photos',
    key: 'b',
    versionId: null,
    ifMatch: null,
  })
  releaseAll(world)
  const chunks = [{ tenantId: 'acme', chunkId: 'c4', birth: 'birth-c4', condemnedAt: world.index }]
  world.do({ type: 'collectChunks', chunks })
  busyVersions(world)
  busyHooks(world)
  return world
}

/** Hooks of a bucket, one that was removed and one whose bucket is gone; deliveries that are pending, delivered, and dead. */
function busyHooks(world: MapWorld): void {
  const named = (id: string, bucket: string) =>
    requested(id, { fresh: { hookId: `${id}-${bucket}`, secret: Uint8Array.of(1) } })
  for (const name of ['announced', 'left']) {
    world.do(createBucket(name))
    world.do(setBounded([named('a', name), named('b', name)], { bucket: name }))
    world.do({ ...put('k', { kind: 'empty' }, 0), bucket: name })
  }
  world.do(setBounded([named('a', 'announced'), named('c', 'announced')], { bucket: 'announced' }))
  world.do({ ...put('l', { kind: 'empty' }, 0), bucket: 'announced' })
  world.do(remove('k', null, 'left'))
  world.do({ type: 'deleteBucket', tenantId: 'acme', name: 'left' })
  const [first, second] = deliveries(world).filter(({ key }) => key === 'l')
  if (first === undefined || second === undefined) throw new Error('there are no deliveries')
  world.do(record(attemptAt(world, first, TAKEN)))
  for (let attempts = 0; attempts < 10; attempts++)
    world.do(record(attemptAt(world, { ...second, attempts })))
}

/** Versions with markers and a null one, uploads in progress, completed and aborted, a kept answer. */
function busyVersions(world: MapWorld): void {
  world.do(createBucket('kept', { versioning: 'Suspended' }))
  const kept = <C extends { readonly bucket: string }>(command: C): C => ({ ...command, bucket: 'kept' })
  world.do({ ...kept(put('k', { kind: 'empty' }, 0)), idempotency: { key: 'i', fingerprint: 'f' } })
  world.do({ type: 'setBucketVersioning', tenantId: 'acme', name: 'kept', versioning: 'Enabled' })
  for (const chunk of ['v1', 'v2', 'v3']) world.do(kept(putChunks('k', [chunk])))
  world.do(remove('k', null, 'kept'))
  for (const [n, key] of ['under way', 'completed', 'given up'].entries()) {
    const { uploadId } = world.do(createUpload(key))
    world.do(putPart({ key, uploadId, partNumber: 1 }, [`u${n}`]))
    if (key === 'completed') world.do(completeUpload({ key, uploadId }, 1))
    const name = { tenantId: 'acme', bucket: 'photos', key, uploadId }
    if (key === 'given up') world.do({ type: 'abortUpload', ...name })
  }
}

t.test('Recount', (t) => {
  t.test('finds no difference in rows that apply wrote', (t) => {
    t.same(recounted(busyWorld()), [])
    t.same(recounted(new MapWorld()), [])
    t.end()
  })

  const COUNTED =
    /^(chunk|making|condemned|repair|repairTotal|usage|tenant|bucket|in|expiry|discard|hook|busyHook|tenantHooks|originHooks|outbox|outboxTotal)\b/

  t.test('finds every missing counted row', (t) => {
    const names = [...busyWorld().rows.keys()].filter((key) => COUNTED.test(key))
    t.ok(names.length > 50)
    for (const key of names) {
      const world = busyWorld()
      world.rows.delete(key)
      t.not(recounted(world).length, 0, key.split('\u0000').join('|'))
    }
    t.end()
  })

  t.test('finds every count that is off by one [admin.usage.recount]', (t) => {
    const change = (key: string, more: Record<string, unknown>) => {
      const world = busyWorld()
      const row = world.rows.get(key)
      if (row === undefined) throw new Error(`there is no ${key}`)
      world.rows.set(key, { ...row, ...more } as Row)
      return recounted(world)
    }
    t.match(change(chunkKeys.chunk('acme', 'c1'), { references: 3 }), [/references/])
    t.match(change(chunkKeys.chunk('acme', 'c3'), { condemnedAt: null }), [/condemned/, /rows do not follow/])
    t.match(change(chunkKeys.chunk('acme', 'c2'), { owed: [] }), [/rows do not follow/])
    t.match(change(chunkKeys.chunk('acme', 'c2'), { replicas: [] }), { length: 4 })
    t.match(change(chunkKeys.repairTotal(), { count: 7 }), [/repair rows/])
    t.match(change(usageKeys.usage('acme'), { inlineBytes: 4 }), [/inlineBytes is 3 and counted as 4/])
    const usage = busyWorld().get(usageKeys.usage('acme')) ?? NO_USAGE
    for (const figure of Object.keys(NO_USAGE) as (keyof typeof NO_USAGE)[])
      t.match(change(usageKeys.usage('acme'), { [figure]: usage[figure] + 1 }), [
        new RegExp(`: ${figure} is`),
      ])
    t.match(change(tenantKeys.tenant('acme'), { bucketCount: 9 }), [
      /the buckets of tenant "acme" are miscounted/,
    ])
    t.match(change(bucketKeys.bucket('acme', 'photos'), { objectCount: 9 }), [
      /objects is 3 and counted as 9/,
    ])
    t.end()
  })

  t.test('finds wrong links, due times and counts of parts', (t) => {
    const changed = (kind: RowKind, more: Record<string, unknown>) => {
      const world = busyWorld()
      const [key, row] = [...world.rows].findLast(([name]) => kindOf(name) === kind) ?? ['', undefined]
      world.rows.set(key, { ...row, ...more } as Row)
      return recounted(world).join('; ')
    }
    t.match(changed('version', { older: null }), /who is older/)
    t.match(changed('version', { newer: 'x' }), /who is older.*do not follow/)
    t.match(changed('version', { kind: 'object', size: 0, body: { kind: 'empty' } }), /row of another kind/)
    t.match(changed('chain', { marker: null }), /do not follow/)
    t.match(changed('chain', { nullVersion: null }), /do not follow/)
    t.match(changed('idempotency', { expiresAt: 1 }), /do not follow/)
    t.match(changed('upload', { expiresAt: 1 }), /do not follow/)
    t.match(changed('upload', { partCount: 2 }), /parts by 1/)
    t.match(changed('upload', { bytes: 11 }), /bytes by 1.*uploadBytes is 11/)
    t.match(changed('uploadPage', { parts: [] }), /parts by 1.*bytes by 10/)
    t.match(changed('discard', { what: { kind: 'upload', partCount: 2, bytes: 10 } }), /parts by 1/)
    t.end()
  })

  t.test('finds wrong deliveries, hooks and counts of them', (t) => {
    const changed = (kind: RowKind, more: Record<string, unknown>) => {
      const world = busyWorld()
      const [key, row] = [...world.rows].find(([name]) => kindOf(name) === kind) ?? ['', undefined]
      world.rows.set(key, { ...row, ...more } as Row)
      return recounted(world).join('; ')
    }
    t.match(changed('hook', { pending: 7 }), /pending is 1 and counted as 7.*differ by/)
    t.match(changed('hook', { state: 'removed' }), /do not follow/)
    t.match(changed('hook', { id: 'z' }), /do not follow/)
    t.match(changed('delivery', { dueAt: 1 }), /do not follow/)
    t.match(changed('delivery', { status: 'delivered', settledAt: 1 }), /delivered is 2 and counted as 1/)
    t.match(changed('delivery', { hookId: 'none' }), /a hook that is not there/)
    t.match(changed('notifications', { subscriptions: [] }), /do not follow/)
    t.match(changed('outbox', { rows: 1 }), /differ by/)
    t.match(changed('tenantHooks', { hooks: 3 }), /notification configs of tenant "acme" .* differ by -1/)
    t.match(changed('originHooks', { hooks: 2 }), /notification configs of tenant "acme" .* differ by -1/)
    t.match(changed('outboxTotal', { dead: 9 }), /dead are counted as 9/)
    t.match(changed('bucket', { hasNotifications: true }), /do not follow/)
    t.end()
  })

  t.test('finds a drop row for a listed copy', (t) => {
    const world = busyWorld()
    world.rows.set(chunkKeys.drop('n1', 'birth-c1', 'c1'), { node: 'n1', id: 'c1', birth: 'birth-c1' })
    t.match(recounted(world), [/listed is to be removed/])
    t.end()
  })

  t.test('distinguishes references of two tenants', (t) => {
    const world = busyWorld()
    for (const [tenant, references] of [
      ['acme', 1],
      ['beta', 2],
    ] as const) {
      const chunk = world.get(chunkKeys.chunk(tenant, 'c1'))
      if (chunk !== undefined) world.rows.set(chunkKeys.chunk(tenant, 'c1'), { ...chunk, references })
    }
    t.match(recounted(world)[0], /references/)
    t.end()
  })
  t.end()
})
