/** Object lock of a bucket: switched on for good, with a default retention for its new versions. */
import t from 'tap'
import { bucketKeys } from '../../src/state-machine/buckets/keys.ts'
import type { DefaultRetention } from '../../src/state-machine/buckets/records.ts'
import type { ObjectRecord } from '../../src/state-machine/versions/records.ts'
import {
  createBucket,
  disableTenant,
  MapWorld,
  OPEN_SESSION,
  put,
  recounted,
  rowsOf,
  worldWithBucket,
} from './map-world.ts'
import { completeUpload, createUpload, putPart } from './upload-commands.ts'

const DAY_MS = 86_400_000
const name = { tenantId: 'acme', name: 'photos' } as const
const photos = bucketKeys.bucket('acme', 'photos')
const lock = (defaultRetention: DefaultRetention | null = null) =>
  ({ type: 'setBucketObjectLock', ...name, defaultRetention }) as const
const enable = { type: 'setBucketVersioning', ...name, versioning: 'Enabled' } as const
const empty = () => put('k', { kind: 'empty' }, 0)

function lockable(): MapWorld {
  const world = worldWithBucket()
  world.do(enable)
  return world
}

t.test('setBucketObjectLock', async (t) => {
  t.test('switches object lock on where versions are kept, and sets or removes the default', async (t) => {
    const world = lockable()
    world.do(empty())
    t.match(world.do(lock()), { objectLockEnabled: true })
    t.notOk('defaultRetention' in (world.get(photos) ?? {}))
    const month = { mode: 'GOVERNANCE', days: 30 } as const
    world.do(lock(month))
    t.match(world.get(photos), { objectLockEnabled: true, defaultRetention: month, objectCount: 1 })
    const century = { mode: 'COMPLIANCE', years: 100 } as const
    world.do(lock(century))
    t.strictSame(world.get(photos)?.defaultRetention, century)
    world.do(lock())
    t.match(world.get(photos), { objectLockEnabled: true })
    t.notOk('defaultRetention' in (world.get(photos) ?? {}), 'object lock stays, the default goes')
  })

  t.test('invalid_bucket_state where versions are not kept', async (t) => {
    const world = worldWithBucket()
    t.match(world.run(lock()), { ok: false, code: 'invalid_bucket_state' })
    world.do({ ...enable, versioning: 'Suspended' })
    t.match(world.run(lock()), { ok: false, code: 'invalid_bucket_state' })
    world.do(enable)
    world.do(lock())
    t.match(world.run({ ...enable, versioning: 'Suspended' }), { code: 'invalid_bucket_state' }, 'for good')
  })

  t.test('invalid_request for a duration or mode that is none', async (t) => {
    const world = lockable()
    for (const given of [
      { mode: 'GOVERNANCE', days: 0 },
      { mode: 'GOVERNANCE', days: 1.5 },
      { mode: 'GOVERNANCE', days: 36_501 },
      { mode: 'COMPLIANCE', years: 101 },
      { mode: 'COMPLIANCE', years: -1 },
      { mode: 'COMPLIANCE' },
      { mode: 'OPEN', days: 1 },
    ])
      t.match(world.run(lock(given as DefaultRetention)), { ok: false, code: 'invalid_request' })
    t.match(world.run(lock({ mode: 'GOVERNANCE', days: 36_500 })), { ok: true })
  })

  t.test('needs the bucket, and a tenant that is not disabled', async (t) => {
    const world = lockable()
    t.match(world.run({ ...lock(), name: 'films' }), { ok: false, code: 'not_found' })
    disableTenant(world, 'acme')
    t.match(world.run(lock()), { ok: false, code: 'tenant_disabled' })
  })
})

t.test('a new version gets the default retention of its bucket [retention.default]', async (t) => {
  const world = lockable()
  world.entry([OPEN_SESSION])
  const before = world.do(empty()).object
  world.do(lock({ mode: 'COMPLIANCE', days: 2 }))
  const expected = () => ({ mode: 'COMPLIANCE', until: world.time + 2 * DAY_MS })

  t.equal(before.retention, null, 'what is there stays as it is')
  const stored = world.do(empty()).object
  t.strictSame(stored.retention, expected(), 'by a put')
  const source = { bucket: 'photos', key: 'k', versionId: stored.versionId }
  t.strictSame(world.do({ ...empty(), type: 'copyObject', source }).retention, expected(), 'by a copy')
  const { uploadId } = world.do(createUpload('parts'))
  world.do(putPart({ key: 'parts', uploadId, partNumber: 1 }, ['c1']))
  world.time += DAY_MS
  const assembled = world.do(completeUpload({ key: 'parts', uploadId }, 1))
  t.strictSame(assembled.retention, expected(), 'by a completion, from its own time on')
  t.equal(rowsOf(world, 'lockedVersion').length, 3, 'each is in the index of locked versions')

  const own = { mode: 'GOVERNANCE', until: world.time + 5 * DAY_MS } as const
  t.strictSame(world.do({ ...empty(), retention: own }).object.retention, own, 'unless it brings its own')
  world.do(lock({ mode: 'GOVERNANCE', years: 2 }))
  const { retention } = world.do(empty()).object
  t.strictSame(retention, { mode: 'GOVERNANCE', until: world.time + 730 * DAY_MS }, 'a year has 365 days')
  world.do(lock())
  t.equal(world.do(empty()).object.retention, null)
  t.strictSame(recounted(world), [])
})

function vault(retention: NonNullable<ObjectRecord['retention']>, legalHold = false) {
  const world = worldWithBucket()
  world.do(createBucket('vault', { versioning: 'Enabled', objectLockEnabled: true }))
  const { object } = world.do({ ...empty(), bucket: 'vault', retention, legalHold })
  return { world, object }
}

const inVault = { tenantId: 'acme', bucket: 'vault', key: 'k' } as const
const bypass = { bypassGovernance: true } as const
const later = { until: 1_700_000_000_000 + 9 * DAY_MS } as const

t.test('GOVERNANCE is set aside by callers that may and ask for it [retention.bypass]', async (t) => {
  t.test('to delete a version', async (t) => {
    const { world, object } = vault({ mode: 'GOVERNANCE', ...later })
    const { versionId } = object
    const remove = { type: 'deleteObject', ...inVault, versionId, ifMatch: null } as const
    t.match(world.run(remove), { code: 'object_locked' })
    t.match(world.run({ ...remove, ...bypass }), { ok: true, value: { existed: true } })
    t.strictSame(recounted(world), [])
  })

  t.test('to delete a version in a batch', async (t) => {
    const { world, object } = vault({ mode: 'GOVERNANCE', ...later })
    const items = [{ key: 'k', versionId: object.versionId }]
    const batch = { type: 'deleteObjects', tenantId: 'acme', bucket: 'vault', items } as const
    t.match(world.do(batch), [{ code: 'object_locked' }])
    t.match(world.do({ ...batch, ...bypass }), [{ existed: true }])
  })

  t.test('to shorten, weaken or remove it', async (t) => {
    const { world } = vault({ mode: 'GOVERNANCE', ...later })
    const set = (retention: ObjectRecord['retention']) =>
      ({ type: 'setObjectRetention', ...inVault, versionId: null, retention }) as const
    const sooner = { mode: 'GOVERNANCE', until: later.until - DAY_MS } as const
    for (const retention of [sooner, null]) {
      t.match(world.run(set(retention)), { code: 'object_locked' })
      t.match(world.run({ ...set(retention), ...bypass }), { ok: true, value: { retention } })
    }
    t.match(world.run(set(null)), { ok: true }, 'none, again, is no change')
    t.equal(rowsOf(world, 'lockedVersion').length, 0)
    t.strictSame(recounted(world), [])
  })

  t.test('and never a legal hold, COMPLIANCE, or a retention that cannot be read', async (t) => {
    const compliance = { mode: 'COMPLIANCE', ...later } as const
    for (const [retention, hold] of [
      [compliance, false],
      [{ mode: 'GOVERNANCE', ...later } as const, true],
      [{ mode: 'GOVERNANCE', until: 'soon' } as never, false],
    ] as const) {
      const { world, object } = vault(compliance, hold)
      const { id = '' } = world.get(bucketKeys.bucket('acme', 'vault')) ?? {}
      const key = [...world.rows.keys()].find((row) => row.startsWith(`in\u0000${id}\u0000object`)) ?? ''
      world.rows.set(key, { ...object, retention })
      const { versionId } = object
      const items = [{ key: 'k', versionId }]
      const remove = { type: 'deleteObject', ...inVault, versionId, ifMatch: null, ...bypass } as const
      t.match(world.run(remove), { code: 'object_locked' })
      const batch = { type: 'deleteObjects', tenantId: 'acme', bucket: 'vault', items, ...bypass } as const
      t.match(world.do(batch), [{ code: 'object_locked' }])
      if (hold) continue
      const set = { type: 'setObjectRetention', ...inVault, versionId: null, ...bypass } as const
      const weaker = { mode: 'GOVERNANCE', ...later } as const
      for (const after of [null, weaker, { ...compliance, until: later.until - 1 }])
        t.match(world.run({ ...set, retention: after }), { code: 'object_locked' })
    }
  })

  t.test('a retention that has ended may be removed without a bypass', async (t) => {
    const { world } = vault({ mode: 'COMPLIANCE', ...later })
    world.time = later.until
    const set = { type: 'setObjectRetention', ...inVault, versionId: null, retention: null } as const
    t.match(world.run(set), { ok: true, value: { retention: null } })
  })
})

t.test('an item of a batch is deleted only if its etag is the given one', async (t) => {
  const world = worldWithBucket()
  const { etag } = world.do(empty()).object
  const batch = (ifMatch: readonly string[]) =>
    ({
      type: 'deleteObjects',
      tenantId: 'acme',
      bucket: 'photos',
      items: [
        { key: 'k', versionId: null, ifMatch },
        { key: 'none', versionId: null },
      ],
    }) as const
  t.match(world.do(batch(['other'])), [{ code: 'precondition_failed' }, { existed: false }])
  t.match(world.do(batch([etag])), [{ existed: true }, { existed: false }])
  t.match(world.do(batch(['*'])), [{ code: 'precondition_failed' }, { existed: false }])
})
