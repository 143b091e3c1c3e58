/** Configs of a bucket, and which hooks get which change: in the entry of the change, and in no other. */
import t from 'tap'
import { usageKeys } from '../../src/state-machine/usage/keys.ts'
import { eventKeys } from '../../src/state-machine/events/keys.ts'
import { bucketKeys } from '../../src/state-machine/buckets/keys.ts'
import type { Command } from '../../src/state-machine/commands.ts'
import { HOOK_ROWS_MAX, TENANT_ROWS_MAX } from '../../src/state-machine/events/records.ts'
import type { Origin } from '../../src/state-machine/base/origin.ts'
import { apply } from '../../src/state-machine/state-machine.ts'
import {
  attemptAt,
  bucketId,
  deliveries,
  hookOf,
  hooks,
  queued,
  record,
  setNotifications,
  TAKEN,
  requested,
  worldWithHooks,
} from './hook-commands.ts'
import {
  createBucket,
  digest,
  disableTenant,
  MapWorld,
  put,
  recounted,
  remove,
  rowsOf,
  worldWithBucket,
} from './map-world.ts'
import { completeUpload, createUpload, putPart } from './upload-commands.ts'
import { timesAt } from '../helpers/entry-time.ts'

const EMPTY = { kind: 'empty' } as const
const names = (world: MapWorld) => deliveries(world).map(({ eventName, key }) => `${eventName} ${key}`)

t.test('setNotifications', async (t) => {
  t.test('makes hooks, and keeps hook and secret of a config that keeps its id', async (t) => {
    const world = worldWithBucket()
    const first = world.do(setNotifications([requested('a'), requested('b')]))
    t.same(
      first.map(({ hook, isFresh }) => [hook.id, isFresh]),
      [
        ['a', true],
        ['b', true],
      ],
    )
    t.equal(world.get(bucketKeys.bucket('acme', 'photos'))?.hasNotifications, true)
    const made = hookOf(world, 'a')
    const second = world.do(setNotifications([requested('c'), requested('a', { prefix: 'in/' })]))
    t.same(
      second.map(({ hook, isFresh }) => [hook.id, isFresh]),
      [
        ['c', true],
        ['a', false],
      ],
    )
    const changed = hookOf(world, 'a')
    t.match(changed, { hookId: made.hookId, secret: made.secret, createdAt: made.createdAt, prefix: 'in/' })
    t.not(changed.updatedAt, made.updatedAt)
    t.same(hooks(world).length, 2, 'b is gone')
    t.same(recounted(world), [])
  })

  t.test('clears with an empty list, and leaves no row and no `hasNotifications`', async (t) => {
    const before = new Set(worldWithBucket().rows.keys())
    const world = worldWithHooks(requested('a'))
    world.do(setNotifications([]))
    t.equal(world.get(bucketKeys.bucket('acme', 'photos'))?.hasNotifications, undefined)
    const totals: string[] = [eventKeys.outboxTotal(), usageKeys.usage('acme')]
    const left = [...world.rows.keys()].filter((key) => !before.has(key) && !totals.includes(key))
    t.same(left, [])
    t.equal(world.get(usageKeys.usage('acme'))?.metadataBytes, 0, 'what they counted goes with them')
    t.same(world.do(setNotifications([])), [], 'again changes nothing')
  })

  t.test('changes nothing when the same is set again', async (t) => {
    const world = worldWithHooks(requested('a'))
    const before = hookOf(world, 'a')
    world.do(setNotifications([requested('a')]))
    t.strictSame(hookOf(world, 'a'), before)
  })

  t.test('a new config under an old id is another hook without the deliveries of the old one', async (t) => {
    const world = worldWithHooks(requested('a'))
    world.do(put('k', EMPTY, 0))
    const old = hookOf(world, 'a')
    world.do(setNotifications([]))
    t.match(hookOf(world, 'a'), { state: 'removed', secret: { length: 0 }, pending: 1 })
    world.do(setNotifications([requested('a')]))
    t.match(
      hooks(world).map(({ state, pending }) => [state, pending]),
      [
        ['removed', 1],
        ['open', 0],
      ],
    )
    const { hookId, bucketId: bucket } = old
    const eventIds = deliveries(world).map(({ eventId }) => eventId)
    t.same(world.do({ type: 'forgetDeliveries', bucketId: bucket, hookId, eventIds }), { forgotten: 1 })
    t.equal(hooks(world).length, 1, 'the old hook is deleted with its last row')
    t.same(recounted(world), [])
  })

  t.test('invalid_argument for more than 100 configs, or an id twice', async (t) => {
    const world = worldWithBucket()
    const many = Array.from({ length: 101 }, (_, n) => requested(`h${n}`))
    t.match(world.run(setNotifications(many)), { ok: false, code: 'invalid_argument' })
    t.match(world.run(setNotifications([requested('a'), requested('a')])), {
      ok: false,
      code: 'invalid_argument',
    })
    t.equal(world.do(setNotifications(many.slice(1))).length, 100)
  })

  t.test('already_exists for a hook id that is taken', async (t) => {
    const world = worldWithHooks(requested('a'))
    const { hookId } = hookOf(world, 'a')
    const again = requested('b', { fresh: { hookId, secret: Uint8Array.of(1) } })
    t.match(world.run(setNotifications([again])), { ok: false, code: 'already_exists' })
    t.match(
      world.run(setNotifications([requested('c', { fresh: { ...again.fresh, hookId: 'a\u0000b' } })])),
      {
        ok: false,
      },
    )
  })

  t.test('not_found and tenant_disabled', async (t) => {
    const world = worldWithBucket()
    t.match(world.run(setNotifications([], 'none')), { ok: false, code: 'not_found' })
    disableTenant(world, 'acme')
    t.match(world.run(setNotifications([])), { ok: false, code: 'tenant_disabled' })
  })
})

t.test('every change is announced, with the name of its event [notifications.events.names]', async (t) => {
  const world = worldWithHooks(requested('all'))
  world.do(createBucket('kept', { objectLockEnabled: true, versioning: 'Enabled' }))
  world.do(setNotifications([requested('all')], 'kept'))
  const kept = <C extends { readonly bucket: string }>(command: C): C => ({ ...command, bucket: 'kept' })

  const { object } = world.do(put('a', EMPTY, 0))
  world.do(remove('a'))
  world.do(kept(put('v', EMPTY, 0)))
  world.do(remove('v', null, 'kept'))
  const first = deliveries(world).find(({ key }) => key === 'v')?.versionId ?? ''
  world.do(remove('v', first, 'kept'))
  const name = { tenantId: 'acme', bucket: 'kept', key: 'l', versionId: null }
  world.do(kept(put('l', EMPTY, 0)))
  world.do({ type: 'setObjectTags', ...name, tags: { a: 'b' } })
  world.do({ type: 'setObjectTags', ...name, tags: {} })
  const retention = { mode: 'GOVERNANCE', until: world.time + 60_000 } as const
  world.do({ type: 'setObjectRetention', ...name, retention })
  world.do({ type: 'setObjectLegalHold', ...name, legalHold: true })
  const { precondition, contentType, metadata, masterKeyId, tags, legalHold } = put('c', EMPTY, 0)
  world.do(put('s', EMPTY, 0))
  const { versionId } = world.do(put('s', EMPTY, 0)).object
  const source = { bucket: 'photos', key: 's', versionId }
  const settings = { contentType, metadata, masterKeyId, tags, legalHold, retention: null }
  world.do({
    type: 'copyObject',
    tenantId: 'acme',
    bucket: 'photos',
    key: 'c',
    precondition,
    ...settings,
    source,
  })
  const { uploadId } = world.do(createUpload('m'))
  world.do(putPart({ key: 'm', uploadId, partNumber: 1 }, ['u1']))
  world.do(completeUpload({ key: 'm', uploadId }, 1))

  t.same(names(world), [
    's3:ObjectCreated:Put a',
    's3:ObjectRemoved:Delete a',
    's3:ObjectCreated:Put v',
    's3:ObjectRemoved:DeleteMarkerCreated v',
    's3:ObjectRemoved:Delete v',
    's3:ObjectCreated:Put l',
    's3:ObjectTagging:Put l',
    's3:ObjectTagging:Delete l',
    's3:ObjectRetention:Put l',
    's3:ObjectLegalHold:Put l',
    's3:ObjectCreated:Put s',
    's3:ObjectCreated:Put s',
    's3:ObjectCreated:Copy c',
    's3:ObjectCreated:CompleteMultipartUpload m',
  ])
  t.match(deliveries(world)[0], {
    type: 'object-created',
    versionId: 'null',
    size: 0,
    etag: object.etag,
    contentType: 'text/plain',
    actor: { type: 'system' },
    status: 'pending',
  })
  t.match(deliveries(world)[3], { type: 'object-removed', size: null, etag: null })
  t.equal(queued(world).length, 14, 'each is queued once')
  t.same(recounted(world), [])
})

t.test('a command that changes nothing is not announced', async (t) => {
  const world = worldWithHooks(requested('all'))
  const again = { ...put('a', EMPTY, 0), idempotency: { key: 'i', fingerprint: 'f' } }
  world.do(again)
  t.equal(world.do(again).replayed, true)
  world.do(remove('absent'))
  const { uploadId } = world.do(createUpload('m'))
  world.do(putPart({ key: 'm', uploadId, partNumber: 1 }, ['u1']))
  const complete = completeUpload({ key: 'm', uploadId }, 1)
  world.do(complete)
  world.do(complete)
  world.run({ ...put('refused', EMPTY, 0), precondition: { ifMatch: ['x'], ifNoneMatch: null } })
  world.do(createBucket('locked', { objectLockEnabled: true, versioning: 'Enabled' }))
  world.do({ ...put('l', EMPTY, 0), bucket: 'locked' })
  world.do(setNotifications([requested('all')], 'locked'))
  const name = { tenantId: 'acme', bucket: 'locked', key: 'l', versionId: null }
  const retention = { mode: 'GOVERNANCE', until: world.time + 60_000 } as const
  for (const _ of [1, 2]) world.do({ type: 'setObjectRetention', ...name, retention })
  world.do({ type: 'setObjectLegalHold', ...name, legalHold: false })
  t.same(names(world), [
    's3:ObjectCreated:Put a',
    's3:ObjectCreated:CompleteMultipartUpload m',
    's3:ObjectRetention:Put l',
  ])
})

t.test('events, prefix and suffix select the hooks [notifications.filters]', async (t) => {
  const world = worldWithHooks(
    requested('created', { events: ['object-created'] }),
    requested('jpg', { prefix: 'in/', suffix: '.jpg' }),
    requested('off', { enabled: false }),
  )
  world.do(put('in/1.jpg', EMPTY, 0))
  world.do(put('in/1.png', EMPTY, 0))
  world.do(put('out/1.jpg', EMPTY, 0))
  world.do(remove('in/1.jpg'))
  t.match(
    hooks(world).map(({ id, pending }) => [id, pending]),
    [
      ['created', 3],
      ['jpg', 2],
      ['off', 0],
    ],
  )
})

t.test('a bucket without notifications reads no row of notifications', async (t) => {
  const world = worldWithBucket()
  const keysRead: string[] = []
  const view = {
    get: (key: string) => {
      keysRead.push(key)
      return world.get(key)
    },
  } as MapWorld
  apply(view, put('k', EMPTY, 0), { index: 9, ...timesAt(9), featureLevel: 1, ordinal: 0 })
  t.ok(keysRead.length > 3)
  t.notOk(keysRead.some((key) => /notifications|hook|outbox/.test(key)))
})

t.test(
  'batch deletes announce each item with an id of its own, and with the origin of the request',
  async (t) => {
    const world = worldWithHooks(requested('all'))
    for (const key of ['a', 'b', 'c']) world.do(put(key, EMPTY, 0))
    const origin: Origin = {
      requestId: 'r1',
      api: 'native',
      operation: 'batchDeleteObjects',
      method: 'POST',
      path: '/x',
      actor: { type: 'accessKey', id: 'AK1', role: null },
      tenantId: 'acme',
      bucket: 'photos',
      key: null,
      versionId: null,
      reason: null,
      sourceIp: '203.0.113.9',
      userAgent: null,
      bytesIn: 0,
      elapsedMs: 1,
      successStatus: 200,
      nodeId: 'n1',
    }
    const items = ['a', 'b', 'absent', 'c'].map((key) => ({ key, versionId: null }))
    const command: Command = { type: 'deleteObjects', tenantId: 'acme', bucket: 'photos', items }
    const at = { index: ++world.index, ...timesAt(world.time), featureLevel: 1, ordinal: 0, digest }
    for (const { key, row } of apply(world, { ...command, origin }, at).writes)
      if (row === null) world.rows.delete(key)
      else world.rows.set(key, row)
    const removed = deliveries(world).filter(({ type }) => type === 'object-removed')
    t.same(
      removed.map(({ key }) => key),
      ['a', 'b', 'c'],
    )
    t.equal(new Set(removed.map(({ eventId }) => eventId)).size, 3)
    t.match(removed[0], { actor: { type: 'accessKey', id: 'AK1' }, requestId: 'r1', sourceIp: '203.0.113.9' })
    t.same(recounted(world), [])
  },
)

t.test('a full queue drops and counts, and never refuses a write', async (t) => {
  const world = worldWithHooks(requested('full'), requested('other'))
  const hook = hookOf(world, 'full')
  const almost = { ...hook, dead: HOOK_ROWS_MAX - 1 }
  world.rows.set(eventKeys.hook(hook.bucketId, hook.hookId), almost)
  for (const key of ['a', 'b', 'c']) world.do(put(key, EMPTY, 0))
  t.match(hookOf(world, 'full'), { pending: 1, dropped: 2, droppedAt: world.time })
  t.match(hookOf(world, 'other'), { pending: 3, dropped: 0, droppedAt: null })
  t.match(world.get(eventKeys.outboxTotal()), { pending: 4, dropped: 2 })
  world.rows.set(eventKeys.outbox('acme'), { rows: TENANT_ROWS_MAX })
  world.do(put('d', EMPTY, 0))
  t.match(hookOf(world, 'other'), { pending: 3, dropped: 1 })
})

t.test('a deleted bucket makes its pending deliveries, then leaves no rows', async (t) => {
  const world = worldWithHooks(
    requested('a'),
    requested('idle', { prefix: 'x' }),
    requested('off', { enabled: false }),
  )
  world.do(put('k', EMPTY, 0))
  world.do(remove('k'))
  world.do({ type: 'deleteBucket', tenantId: 'acme', name: 'photos' })
  t.match(
    hooks(world).map(({ id, state, pending }) => [id, state, pending]),
    [['a', 'draining', 2]],
    'hooks without pending deliveries are gone',
  )
  t.ok(hookOf(world, 'a').secret.length > 0, 'it still signs')
  t.same(recounted(world), [])
  for (const delivery of deliveries(world)) world.do(record(attemptAt(world, delivery, TAKEN)))
  t.match(hookOf(world, 'a'), { state: 'removed', delivered: 2, secret: { length: 0 } })
  const { bucketId: bucket, hookId } = hookOf(world, 'a')
  const eventIds = deliveries(world).map(({ eventId }) => eventId)
  world.do({ type: 'forgetDeliveries', bucketId: bucket, hookId, eventIds })
  t.same(hooks(world), [])
  t.same(deliveries(world), [])
  t.same(recounted(world), [])
  world.do(createBucket())
  t.notOk(
    world.get(eventKeys.notifications(bucketId(world))),
    'a new bucket of the same name has no notifications',
  )
})

t.test(
  'rewrapHookSecrets replaces secrets that are still the same bytes, and none of a removed hook',
  async (t) => {
    const world = worldWithHooks(requested('a'), requested('b'))
    const [a, b] = [hookOf(world, 'a'), hookOf(world, 'b')]
    const after = Uint8Array.of(7, 7)
    const item = (hook: typeof a, before = hook.secret) => {
      return { bucketId: hook.bucketId, hookId: hook.hookId, before, after }
    }
    const items = [item(a), item(b, Uint8Array.of(0)), { ...item(a), hookId: 'none' }]
    t.same(world.do({ type: 'rewrapHookSecrets', items }), { rewrapped: 1 })
    t.same([hookOf(world, 'a').secret, hookOf(world, 'b').secret], [after, b.secret])
    world.do(put('k', EMPTY, 0))
    world.do(setNotifications([]))
    t.same(world.do({ type: 'rewrapHookSecrets', items: [item(b, new Uint8Array(0))] }), { rewrapped: 0 })
    const many = Array.from({ length: 257 }, () => item(a))
    t.match(world.run({ type: 'rewrapHookSecrets', items: many }), { ok: false, code: 'invalid_argument' })
    t.equal(rowsOf(world, 'hook').length, 2)
  },
)
