/** What a lifecycle rule does to items of a bucket, decided again in the entry: nothing that it does not name, nothing locked. */
import t from 'tap'
import { objectKeys } from '../../src/state-machine/objects/keys.ts'
import type { VersionId } from '../../src/state-machine/base/record-ids.ts'
import { lifecycleKeys } from '../../src/state-machine/lifecycle/keys.ts'
import type { LifecycleRule } from '../../src/state-machine/lifecycle/records.ts'
import { versionKeys } from '../../src/state-machine/versions/keys.ts'
import type { RetentionRecord } from '../../src/state-machine/versions/records.ts'
import { newestVersion } from '../../src/state-machine/versions/versions.ts'
import { deliveries, requested, setNotifications } from './hook-commands.ts'
import { ALL, actOn, bucketIn, DAY_MS, ruleWith, setLifecycle } from './lifecycle-samples.ts'
import {
  createBucket,
  createTenant,
  disableTenant,
  MapWorld,
  OPEN_SESSION,
  putChunks,
  recounted,
  remove,
  rowsOf,
} from './map-world.ts'
import { createUpload, putPart } from './upload-commands.ts'

type Versioning = 'Unversioned' | 'Enabled' | 'Suspended'

function worldWith(versioning: Versioning, ...rules: readonly LifecycleRule[]): MapWorld {
  const world = new MapWorld()
  world.do(createTenant('acme'))
  const made = versioning === 'Suspended' ? 'Enabled' : versioning
  world.entry([
    createBucket('photos', { versioning: made, objectLockEnabled: versioning === 'Enabled' }),
    OPEN_SESSION,
  ])
  if (versioning === 'Suspended')
    world.do({ type: 'setBucketVersioning', tenantId: 'acme', name: 'photos', versioning })
  world.do(setLifecycle(...rules))
  return world
}

const later = (world: MapWorld, days: number): void => void (world.time += days * DAY_MS)
const EXPIRES = ruleWith({ expiration: { days: 1 } })

function store(world: MapWorld, key: string, more: object = {}): VersionId {
  return world.do({ ...putChunks(key, [`${key}${world.index}`]), ...more }).object.versionId
}

t.test('applyLifecycleRule', async (t) => {
  t.test('removes an expired object of a bucket without versions, and counts it', async (t) => {
    const world = worldWith('Unversioned', EXPIRES)
    const versionId = store(world, 'a')
    const item = { key: 'a', versionId }
    t.same(world.do(actOn(world, item)), { done: [], kept: 1 }, 'it is not old enough')
    later(world, 2)
    const done = [{ kind: 'expired', key: 'a', id: 'null', bytes: 10 }]
    t.same(world.do(actOn(world, item)), { done, kept: 0 })
    t.match(bucketIn(world), { objectCount: 0, versionCount: 0, logicalBytes: 0 })
    t.same(world.do(actOn(world, item)), { done: [], kept: 1 }, 'once')
    t.strictSame(recounted(world), [])
  })

  t.test(
    'hides an expired object of a bucket with versions, also a locked one, which stays below',
    async (t) => {
      const world = worldWith('Enabled', EXPIRES)
      const retention: RetentionRecord = { mode: 'COMPLIANCE', until: world.time + 100 * DAY_MS }
      const versionId = store(world, 'a', { retention, legalHold: true })
      later(world, 2)
      const done = [{ kind: 'hidden', key: 'a', id: versionId, bytes: 0 }]
      const reply = world.do(actOn(world, { key: 'a', versionId }))
      t.match(reply, { done, kept: 0 })
      const [{ markerId = '' } = {}] = reply.done
      t.match(newestVersion(world, bucketIn(world).id, 'a'), { versionId: markerId, older: versionId })
      t.match(bucketIn(world), { objectCount: 0, versionCount: 1, deleteMarkerCount: 1, logicalBytes: 10 })
      t.strictSame(recounted(world), [])
    },
  )

  t.test('replaces the null version of a suspended bucket by a delete marker', async (t) => {
    const world = worldWith('Suspended', EXPIRES)
    const versionId = store(world, 'a')
    later(world, 2)
    const done = [{ kind: 'hidden', key: 'a', id: 'null', bytes: 10 }]
    t.match(world.do(actOn(world, { key: 'a', versionId })), { done, kept: 0 })
    t.match(bucketIn(world), { objectCount: 0, versionCount: 0, deleteMarkerCount: 1, logicalBytes: 0 })
    t.strictSame(recounted(world), [])
  })

  t.test('keeps a version that was overwritten since, and what lost its tag', async (t) => {
    const world = worldWith('Unversioned', { ...EXPIRES, filter: { ...ALL, tags: { keep: 'no' } } })
    const old = store(world, 'a', { tags: { keep: 'no' } })
    const tagged = store(world, 'b', { tags: { keep: 'no' } })
    later(world, 2)
    store(world, 'a', { tags: { keep: 'no' } })
    const name = { tenantId: 'acme', bucket: 'photos', key: 'b', versionId: null }
    world.do({ type: 'setObjectTags', ...name, tags: { keep: 'yes' } })
    t.same(world.do(actOn(world, { key: 'a', versionId: old }, { key: 'b', versionId: tagged })), {
      done: [],
      kept: 2,
    })
    t.equal(bucketIn(world).objectCount, 2)
  })

  t.test(
    'keeps a noncurrent version under retention, under legal hold, and with a lock that cannot be read',
    async (t) => {
      const world = worldWith('Enabled', ruleWith({ noncurrent: { days: 1, newerKept: 0 } }))
      const until = world.time + 10 * DAY_MS
      const retained = store(world, 'a', { retention: { mode: 'GOVERNANCE', until } })
      const held = store(world, 'a', { legalHold: true })
      const unreadable = store(world, 'a', { retention: { mode: 'COMPLIANCE', until } })
      const free = store(world, 'a')
      store(world, 'a')
      const row = versionKeys.version(bucketIn(world).id, 'a', unreadable)
      const found = world.get(row)
      if (found?.kind === 'object') world.rows.set(row, { ...found, retention: { mode: 'COMPLIANCE' } })
      later(world, 3)
      const items = [retained, held, unreadable, free].map((versionId) => ({ key: 'a', versionId }))
      const reply = world.do(actOn(world, ...items))
      t.same(
        reply.done.map(({ id }) => id),
        [free],
      )
      later(world, 10)
      t.same(
        world.do(actOn(world, ...items)).done.map(({ id }) => id),
        [retained],
        'when its retention has ended',
      )
      t.strictSame(recounted(world), [])
    },
  )

  t.test('does nothing by a time that is not confirmed', async (t) => {
    const world = worldWith('Unversioned', EXPIRES)
    const versionId = store(world, 'a')
    later(world, 30)
    world.withheldMs = 30 * DAY_MS
    t.same(world.do(actOn(world, { key: 'a', versionId })), { done: [], kept: 1 })
    world.withheldMs = 0
    t.equal(world.do(actOn(world, { key: 'a', versionId })).done.length, 1)
  })

  t.test(
    'does nothing by a rule that is gone, disabled or changed, or in another bucket of that name',
    async (t) => {
      const world = worldWith('Unversioned', EXPIRES)
      const versionId = store(world, 'a')
      later(world, 2)
      const command = actOn(world, { key: 'a', versionId })
      for (const rule of [
        { ...EXPIRES, id: 'other' },
        { ...EXPIRES, isEnabled: false },
        ruleWith({ expiration: { days: 9 } }),
      ]) {
        world.do(setLifecycle(rule))
        t.same(world.do(command), { done: [], kept: 1 }, rule.id)
      }
      world.do({ type: 'deleteBucketLifecycle', tenantId: 'acme', name: 'photos' })
      t.same(world.do(command), { done: [], kept: 1 })
      world.do(setLifecycle(EXPIRES))
      t.same(world.do({ ...command, bucketId: 'other' }), { done: [], kept: 1 })
      t.equal(world.do(command).done.length, 1)
    },
  )

  t.test(
    'keeps so many newer noncurrent objects, and does not count delete markers among them',
    async (t) => {
      const world = worldWith('Enabled', ruleWith({ noncurrent: { days: 1, newerKept: 2 } }))
      const versions = [store(world, 'a'), store(world, 'a'), store(world, 'a')]
      world.do(remove('a'))
      const last = store(world, 'a')
      store(world, 'a')
      later(world, 3)
      const items = [last, ...versions.toReversed()].map((versionId) => ({ key: 'a', versionId }))
      const reply = world.do(actOn(world, ...items))
      // The newest two noncurrent objects are `last` and the third of the others; the marker between them is no object.
      t.same(
        reply.done.map(({ id }) => id),
        [versions[1], versions[0]],
      )
      t.strictSame(recounted(world), [])
    },
  )

  t.test('removes a delete marker when no version is left below it', async (t) => {
    const world = worldWith('Enabled', ruleWith({ expiration: { expiredDeleteMarker: true } }))
    const versionId = store(world, 'a')
    const marker = world.do(remove('a')).version?.versionId ?? ''
    t.same(world.do(actOn(world, { key: 'a', versionId: marker })), { done: [], kept: 1 })
    world.do(remove('a', versionId))
    t.match(world.do(actOn(world, { key: 'a', versionId: marker })), { done: [{ kind: 'marker', key: 'a' }] })
    t.match(bucketIn(world), { versionCount: 0, deleteMarkerCount: 0 })
    t.strictSame(recounted(world), [])
  })

  t.test('aborts an old upload, whose parts count no more', async (t) => {
    const world = worldWith('Unversioned', ruleWith({ abortUploadDays: 2 }))
    const { uploadId } = world.do(createUpload('a'))
    world.do(putPart({ key: 'a', uploadId, partNumber: 1 }, ['c1']))
    later(world, 1)
    t.same(world.do(actOn(world, { key: 'a', uploadId })), { done: [], kept: 1 })
    later(world, 2)
    t.same(world.do(actOn(world, { key: 'a', uploadId })).done, [
      { kind: 'upload', key: 'a', id: uploadId, bytes: 10 },
    ])
    t.equal(world.get(objectKeys.upload(bucketIn(world).id, 'a', uploadId)), undefined)
    t.match(bucketIn(world), { uploadCount: 0, uploadBytes: 0 })
    t.strictSame(recounted(world), [])
  })

  t.test('announces what it removes and hides under names of its own', async (t) => {
    const world = worldWith(
      'Enabled',
      EXPIRES,
      ruleWith({ id: 'old', noncurrent: { days: 1, newerKept: 0 } }),
    )
    const old = store(world, 'a')
    const versionId = store(world, 'a')
    world.do(setNotifications([requested('h')]))
    later(world, 3)
    world.do(actOn(world, { key: 'a', versionId }))
    world.do({ ...actOn(world, { key: 'a', versionId: old }), ruleId: 'old' })
    t.same(
      deliveries(world)
        .map(({ eventName }) => eventName)
        .sort(),
      ['s3:LifecycleExpiration:Delete', 's3:LifecycleExpiration:DeleteMarkerCreated'],
    )
  })

  t.test('leaves what a disabled tenant stores', async (t) => {
    const world = worldWith('Unversioned', EXPIRES)
    const versionId = store(world, 'a')
    later(world, 2)
    const command = actOn(world, { key: 'a', versionId })
    disableTenant(world, 'acme')
    t.match(world.run(command), { ok: false, code: 'tenant_disabled' })
  })

  t.test('refuses no items, and too many', async (t) => {
    const world = worldWith('Unversioned', EXPIRES)
    t.match(world.run(actOn(world)), { ok: false, code: 'invalid_argument' })
    const items = Array.from({ length: 257 }, () => ({ key: 'a', versionId: 'v' }))
    t.match(world.run(actOn(world, ...items)), { ok: false, code: 'invalid_argument' })
  })
})

t.test('the rows of rules', async (t) => {
  const turns = (world: MapWorld) =>
    rowsOf<{ readonly turnAt: number }>(world, 'lifecycleTurn').map(({ turnAt }) => turnAt)

  t.test(
    'are one for the rules, one for the walk and one turn, and go with the rules and with the bucket',
    async (t) => {
      const world = worldWith('Unversioned', EXPIRES)
      const { id } = bucketIn(world)
      t.match(world.get(lifecycleKeys.lifecycle(id)), { rules: [EXPIRES], revision: world.index })
      t.same(turns(world), [world.time])
      t.strictSame(recounted(world), [])
      world.do(setLifecycle(ruleWith({ abortUploadDays: 1 })))
      t.same(turns(world), [world.time], 'a new turn replaces the earlier one')
      t.ok((bucketIn(world).configBytes?.lifecycle ?? 0) > 256)
      world.do({ type: 'deleteBucketLifecycle', tenantId: 'acme', name: 'photos' })
      world.do({ type: 'deleteBucketLifecycle', tenantId: 'acme', name: 'photos' })
      for (const kind of ['lifecycle', 'lifecycleWalk', 'lifecycleTurn'] as const)
        t.same(rowsOf(world, kind), [])
      t.strictSame(recounted(world), [])
      world.do(setLifecycle(EXPIRES))
      world.do({ type: 'deleteBucket', tenantId: 'acme', name: 'photos' })
      for (const kind of ['lifecycle', 'lifecycleWalk', 'lifecycleTurn'] as const)
        t.same(rowsOf(world, kind), [])
      t.strictSame(recounted(world), [])
    },
  )

  t.test('have the next turn at the midnight behind the walk, unless rules were set since', async (t) => {
    const world = worldWith('Unversioned', EXPIRES)
    const { id: bucketId } = bucketIn(world)
    const [turnAt = 0] = turns(world)
    const revision = world.index
    const end = {
      type: 'endLifecycleWalk',
      tenantId: 'acme',
      bucket: 'photos',
      bucketId,
      turnAt,
      revision,
    } as const
    const judgedAt = world.time
    world.do({ ...end, revision: revision - 1, judgedAt })
    world.do({ ...end, turnAt: turnAt + 1, judgedAt })
    world.do({ ...end, bucketId: 'other', judgedAt })
    t.same(turns(world), [turnAt])
    world.do({ ...end, judgedAt: judgedAt + 9 * DAY_MS })
    const midnight = (Math.floor(world.time / DAY_MS) + 1) * DAY_MS
    t.same(turns(world), [midnight], 'a node whose clock is ahead passes over no day')
    t.strictSame(recounted(world), [])
    world.do({ ...end, judgedAt })
    t.same(turns(world), [midnight])
    disableTenant(world, 'acme')
    world.time = midnight
    world.do({ ...end, turnAt: midnight, judgedAt: midnight })
    t.same(turns(world), [midnight + DAY_MS], 'of a disabled tenant too')
  })

  t.test('count in the quota of metadata, and need a tenant that is active', async (t) => {
    const world = worldWith('Unversioned', EXPIRES)
    const quota = { maxBytes: null, maxObjects: null, maxBuckets: null, maxMetadataBytes: 400 }
    world.do({ type: 'setQuota', tenantId: 'acme', ...quota })
    const rules = Array.from({ length: 9 }, (_, n) => ruleWith({ id: `r${n}`, abortUploadDays: 1 }))
    t.match(world.run(setLifecycle(...rules)), { ok: false, code: 'quota_exceeded' })
    disableTenant(world, 'acme')
    t.match(world.run(setLifecycle(EXPIRES)), { ok: false, code: 'tenant_disabled' })
  })
})
