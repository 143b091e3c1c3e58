/** Versions of one key in every state of versioning, and the order in which a new one is refused. */
import t from 'tap'
import { versionKeys, versionRanges } from '../../src/state-machine/versions/keys.ts'
import { bucketKeys } from '../../src/state-machine/buckets/keys.ts'
import type { BucketRecord } from '../../src/state-machine/buckets/records.ts'
import type { Command } from '../../src/state-machine/commands.ts'
import type { NewVersion } from '../../src/state-machine/objects/commands.ts'
import type { VersionRecord } from '../../src/state-machine/versions/records.ts'
import { findVersion, newestVersion } from '../../src/state-machine/versions/versions.ts'
import {
  createBucket,
  createTenant,
  disableTenant,
  type MapWorld,
  put,
  recounted,
  remove,
  rowsUnder,
  worldWithBucket,
} from './map-world.ts'

const empty = (key = 'k') => put(key, { kind: 'empty' }, 0)
const photos = (world: MapWorld): BucketRecord => {
  const bucket = world.get(bucketKeys.bucket('acme', 'photos'))
  if (bucket === undefined) throw new Error('no bucket')
  return bucket
}

function turn(world: MapWorld, versioning: 'Enabled' | 'Suspended'): BucketRecord {
  return world.do({ type: 'setBucketVersioning', tenantId: 'acme', name: 'photos', versioning })
}

/** Newest first: `o` an object, `m` a delete marker, a `0` behind it when clients call it null. */
function shown(world: MapWorld, key = 'k'): string {
  const { id } = photos(world)
  const current = world.get(versionKeys.object(id, key))
  const others = rowsUnder<VersionRecord>(world, versionRanges.versions(id)).filter((row) => row.key === key)
  return [...(current === undefined ? [] : [current]), ...others]
    .map(({ kind, isNull }) => `${kind === 'object' ? 'o' : 'm'}${isNull ? '0' : ''}`)
    .join(' ')
}

function enabled(): MapWorld {
  const world = worldWithBucket()
  turn(world, 'Enabled')
  return world
}

t.test('versioning', (t) => {
  t.test('never goes back to Unversioned, and repeating it succeeds', (t) => {
    const world = enabled()
    const back = { type: 'setBucketVersioning', tenantId: 'acme', name: 'photos' } as const
    t.match(world.run({ ...back, versioning: 'Unversioned' }), { ok: false, code: 'invalid_request' })
    t.match(world.run({ ...back, versioning: 'Enabled' }), { ok: true })
    t.match(turn(world, 'Suspended'), { versioning: 'Suspended' })
    t.match(world.run({ ...back, name: 'none', versioning: 'Enabled' }), { ok: false, code: 'not_found' })
    t.end()
  })

  t.test('invalid_bucket_state: a bucket with object lock is created versioned and never suspended', (t) => {
    const world = worldWithBucket()
    const refused = { ok: false, code: 'invalid_bucket_state' }
    t.match(world.run(createBucket('vault', { objectLockEnabled: true })), refused)
    world.do(createBucket('vault', { objectLockEnabled: true, versioning: 'Enabled' }))
    const command = { type: 'setBucketVersioning', tenantId: 'acme', name: 'vault' } as const
    t.match(world.run({ ...command, versioning: 'Suspended' }), refused)
    t.end()
  })
  t.end()
})

t.test('a delete of the key', (t) => {
  t.test('hides the versions of an enabled bucket behind a marker, also without any version', (t) => {
    const world = enabled()
    const { object } = world.do(empty())
    t.match(world.do(remove('k')), { existed: true, isMade: true, version: { kind: 'deleteMarker' } })
    t.match(world.do(remove('k')), { existed: false, isMade: true })
    t.equal(shown(world), 'm m o')
    t.equal(world.get(versionKeys.object(photos(world).id, 'k')), undefined)
    t.match(findVersion(world, photos(world).id, 'k', object.versionId), { kind: 'object' })
    t.match(photos(world), { objectCount: 0, versionCount: 1, deleteMarkerCount: 2 })
    t.end()
  })

  t.test('removes the null version of a suspended bucket, and only that', (t) => {
    const world = worldWithBucket()
    world.do(empty())
    turn(world, 'Enabled')
    world.do(empty())
    t.equal(shown(world), 'o o0')
    turn(world, 'Suspended')
    world.do(remove('k'))
    t.equal(shown(world), 'm0 o')
    world.do(remove('k'))
    t.equal(shown(world), 'm0 o', 'one null marker')
    world.do(empty())
    t.equal(shown(world), 'o0 o')
    t.match(photos(world), { objectCount: 1, versionCount: 2, deleteMarkerCount: 0 })
    t.same(recounted(world), [])
    t.end()
  })

  t.test('precondition_failed when the current object has another etag, or there is none', (t) => {
    const world = enabled()
    const guarded = { ...remove('k'), ifMatch: ['other'] } as Command
    t.match(world.run(guarded), { ok: false, code: 'precondition_failed' })
    world.do(empty())
    t.match(world.run(guarded), { ok: false, code: 'precondition_failed' })
    t.match(world.run({ ...remove('k'), ifMatch: ['etag of k'] } as Command), { ok: true })
    t.end()
  })
  t.end()
})

t.test('the null version in every order', (t) => {
  for (const [steps, expected] of [
    ['p E p S p', 'o0 o'],
    ['p E d', 'm o0'],
    ['p E d S p', 'o0 m'],
    ['E p S p E p', 'o o0 o'],
    ['E p S d E p S p', 'o0 o o'],
    ['p E p x0', 'o'],
    ['p E d x0', 'm'],
    ['E p S d x0', 'o'],
    ['p S p d E p d x0', 'm o'],
    ['S d x0', ''],
  ] as const)
    t.test(`${steps} leaves "${expected}"`, (t) => {
      const world = worldWithBucket()
      for (const step of steps.split(' ')) {
        if (step === 'p') world.do(empty())
        else if (step === 'd') world.do(remove('k'))
        else if (step === 'x0') world.do(remove('k', 'null'))
        else turn(world, step === 'E' ? 'Enabled' : 'Suspended')
      }
      t.equal(shown(world), expected)
      t.same(recounted(world), [])
      t.end()
    })
  t.end()
})

t.test('a delete of one version', (t) => {
  for (const [at, left, isCurrent] of [
    [0, 'o m o', true],
    [1, 'm m o', false],
    [2, 'm o o', false],
    [3, 'm o m', false],
  ] as const)
    t.test(`number ${at} of marker, object, marker, object`, (t) => {
      const world = enabled()
      const made: string[] = []
      for (const step of ['p', 'd', 'p', 'd']) {
        if (step === 'p') made.unshift(world.do(empty()).object.versionId)
        else made.unshift((world.do(remove('k')) as { version: VersionRecord }).version.versionId)
      }
      t.match(world.do(remove('k', made[at])), {
        existed: true,
        isMade: false,
        version: { versionId: made[at] },
      })
      t.equal(shown(world), left)
      t.equal(world.get(versionKeys.object(photos(world).id, 'k')) !== undefined, isCurrent)
      t.equal(newestVersion(world, photos(world).id, 'k')?.versionId, made[at === 0 ? 1 : 0])
      t.same(recounted(world), [])
      t.match(
        world.do(remove('k', made[at])),
        { existed: false, version: null },
        'repeating it removes nothing',
      )
      for (const id of made) world.do(remove('k', id))
      t.same(
        [...world.rows.keys()].filter((key) => key.startsWith('in\u0000')),
        [],
      )
      t.end()
    })

  t.test('does not confuse ids with almost equal spelling', (t) => {
    const world = enabled()
    const { versionId } = world.do(empty()).object
    world.do(remove('k'))
    for (const id of [`${versionId}u`, `${versionId}\u0000`, versionId.toLowerCase(), '', 'NULL'])
      t.match(world.do(remove('k', id)), { existed: false })
    t.equal(shown(world), 'm o')
    t.end()
  })
  t.end()
})

t.test('deleteObjects answers each item separately, in order, with separate ids', (t) => {
  const world = enabled()
  const { versionId } = world.do(empty('a')).object
  const items = [
    { key: 'a', versionId },
    { key: 'b', versionId: null },
    { key: 'b', versionId: null },
    { key: '', versionId: null },
    { key: 'none', versionId: 'null' },
  ]
  const command = { type: 'deleteObjects', tenantId: 'acme', bucket: 'photos', items } as const
  const results = world.do(command)
  t.match(results, [
    { existed: true, isMade: false },
    { existed: false, isMade: true },
    { existed: false, isMade: true },
    { code: 'invalid_key' },
    { existed: false, isMade: false, version: null },
  ])
  t.equal(shown(world, 'b'), 'm m')
  t.match(world.run({ ...command, bucket: 'none' }), { ok: false, code: 'not_found' })
  t.match(world.run({ ...command, items: [] }), { ok: false, code: 'invalid_argument' })
  t.same(recounted(world), [])
  t.end()
})

t.test('a new bucket of the same name shows nothing old', (t) => {
  const world = enabled()
  const requested = { key: 'i', fingerprint: 'f' }
  const { versionId } = world.do({ ...empty(), idempotency: requested }).object
  world.do(remove('k', versionId))
  t.match(world.run({ type: 'deleteBucket', tenantId: 'acme', name: 'photos' }), { ok: true })
  world.do(createBucket())
  t.match(world.do({ ...empty(), idempotency: requested }), { replayed: false }, 'nor old answers')
  t.equal(shown(world), 'o0')
  t.equal(findVersion(world, photos(world).id, 'k', versionId), undefined)
  t.end()
})

t.test('bucket_not_empty while it holds a delete marker, an old version, or an upload', (t) => {
  const world = enabled()
  const command = { type: 'deleteBucket', tenantId: 'acme', name: 'photos' } as const
  const { version } = world.do(remove('k')) as { version: VersionRecord }
  t.match(world.run(command), { ok: false, code: 'bucket_not_empty', message: /1 delete markers/ })
  world.do(remove('k', version.versionId))
  t.match(world.run(command), { ok: true })
  t.end()
})

t.test('a new version is refused in the order exists, precondition, quota, locks', (t) => {
  const world = worldWithBucket()
  world.do(empty())
  world.do({ type: 'setQuota', tenantId: 'acme', maxBytes: 5, maxObjects: null, maxBuckets: null })
  const locked: Pick<NewVersion, 'legalHold'> = { legalHold: true }
  const never = { ifMatch: null, ifNoneMatch: ['*'] }
  const large = put('k', { kind: 'inline', chunkId: 'ci', sealed: Uint8Array.of(1) }, 6)
  const all = { ...large, ...locked, precondition: never }
  t.match(world.run({ ...all, bucket: 'none' }), { code: 'not_found' })
  t.match(world.run({ ...all, key: '' }), { code: 'invalid_key' })
  t.match(world.run(all), { code: 'precondition_failed' })
  t.match(world.run({ ...large, ...locked }), { code: 'quota_exceeded' })
  t.match(world.run({ ...empty(), ...locked }), { code: 'object_lock_not_enabled' })
  world.do(createTenant('beta'))
  disableTenant(world, 'acme')
  t.match(world.run(all), { code: 'tenant_disabled' }, 'whether the tenant is active is checked first')
  t.end()
})

t.test('preconditions compare only with the current object', (t) => {
  const world = enabled()
  const run = (precondition: NewVersion['precondition']) => world.run({ ...empty(), precondition }).ok
  t.equal(run({ ifMatch: ['*'], ifNoneMatch: null }), false)
  t.equal(run({ ifMatch: null, ifNoneMatch: ['*'] }), true)
  t.equal(run({ ifMatch: null, ifNoneMatch: ['*'] }), false)
  t.equal(run({ ifMatch: ['no', 'etag of k'], ifNoneMatch: ['no'] }), true)
  t.equal(run({ ifMatch: null, ifNoneMatch: ['etag of k'] }), false)
  t.equal(run({ ifMatch: [], ifNoneMatch: null }), false, 'an empty list names nothing')
  world.do(remove('k'))
  t.equal(run({ ifMatch: ['etag of k'], ifNoneMatch: null }), false, 'a delete marker is not an object')
  t.equal(run({ ifMatch: null, ifNoneMatch: ['*'] }), true)
  t.end()
})
