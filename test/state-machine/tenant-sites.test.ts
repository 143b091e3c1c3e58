/** Buckets that follow the replication of their tenant. [docs/adr/0098-what-replication-sends.md] */
import t from 'tap'
import { bucketKeys } from '../../src/state-machine/buckets/keys.ts'
import { siteKeys } from '../../src/state-machine/sites/keys.ts'
import type { SiteRecord, WaitingSiteRecord } from '../../src/state-machine/sites/records.ts'
import { bucketId } from './hook-commands.ts'
import { createBucket, endTenant, MapWorld, put, recounted, rowsOf, worldWithBucket } from './map-world.ts'
import { namesOf, setReplication, siteRule, TARGET, waiting } from './site-commands.ts'

const EMPTY = { kind: 'empty' } as const
const { bucket: _, identity: __, ...PLACE } = TARGET
const ACME = { tenantId: 'acme' } as const

function setTenant(world: MapWorld, more: { existing?: boolean } = {}) {
  const target = { ...PLACE, bucketPrefix: 'acme-' }
  const given = {
    target,
    secret: Uint8Array.of(9),
    rules: [siteRule()],
    createsBuckets: true,
    existing: false,
  }
  return world.do({ type: 'setTenantReplication', ...ACME, ...given, ...more })
}

const named = (world: MapWorld, name = 'photos') => ({
  ...ACME,
  name,
  bucketId: world.get(bucketKeys.bucket('acme', name))?.id ?? '',
  revision: world.get(siteKeys.tenantSite('acme'))?.revision ?? 0,
})

const follow = (world: MapWorld, name = 'photos') =>
  ({
    type: 'followTenant',
    ...named(world, name),
    targetBucket: `acme-${name}`,
    identity: null,
    secret: Uint8Array.of(1),
  }) as const

const wait = (world: MapWorld, name = 'photos') =>
  ({ type: 'recordWaitingSite', ...named(world, name), error: 'NoSuchBucket', jitter: 0 }) as const

const leave = (world: MapWorld, names: readonly string[], isLast = true) =>
  world.do({ type: 'leaveTenant', ...ACME, revision: named(world).revision, names, isLast })

const sites = (world: MapWorld) => rowsOf<SiteRecord>(world, 'site')
const waits = (world: MapWorld) => rowsOf<WaitingSiteRecord>(world, 'waitingSite')

t.test('a bucket that follows has target and rules of its tenant', async (t) => {
  const world = worldWithBucket()
  const { revision } = setTenant(world)
  world.do(put('before', EMPTY, 0))
  world.do(follow(world))
  t.match(sites(world), [{ ofTenant: revision, target: { ...PLACE, bucket: 'acme-photos' } }])
  world.do(put('a', EMPTY, 0))
  t.same(namesOf(waiting(world)), ['put a'])
  t.same(recounted(world), [])
})

t.test('what a bucket held is sent where that is asked for, and always of a younger bucket', async (t) => {
  const resyncs = (existing: boolean) => {
    const world = worldWithBucket()
    setTenant(world, { existing })
    world.do(createBucket('younger'))
    world.do(follow(world))
    world.do(follow(world, 'younger'))
    return ['photos', 'younger'].map((name) => {
      const { bucketId: id } = named(world, name)
      return world.get(siteKeys.siteState(id))?.resync !== null
    })
  }
  t.same(resyncs(false), [false, true])
  t.same(resyncs(true), [true, true])
})

t.test('a bucket keeps a replication of its own, and can be given one', async (t) => {
  const world = worldWithBucket()
  world.do(setReplication(world))
  setTenant(world)
  t.match(world.run(follow(world)), { ok: false, code: 'precondition_failed' })
  t.match(world.run(wait(world)), { ok: false, code: 'precondition_failed' })
  world.do({ type: 'deleteBucketReplication', ...ACME, name: 'photos' })
  world.do(follow(world))
  world.do(setReplication(world))
  t.equal(sites(world)[0]?.ofTenant, undefined)
  t.match(world.run(follow(world)), { ok: false, code: 'precondition_failed' })
})

t.test('that of its tenant cannot be removed from a single bucket', async (t) => {
  const world = worldWithBucket()
  setTenant(world)
  world.do(follow(world))
  const remove = { type: 'deleteBucketReplication', ...ACME, name: 'photos' } as const
  t.match(world.run(remove), { ok: false, code: 'precondition_failed', message: /disabled rule/ })
  world.do({ type: 'deleteTenantReplication', ...ACME })
  world.do(remove)
  t.same(sites(world), [])
})

t.test('an answer to an earlier question changes nothing', async (t) => {
  const world = worldWithBucket()
  setTenant(world)
  const late = [follow(world), wait(world)]
  setTenant(world)
  for (const command of late) t.match(world.run(command), { ok: false, code: 'precondition_failed' })
  const ofOther = { ...follow(world), bucketId: 'ANOTHER' }
  t.match(world.run(ofOther), { ok: false, code: 'precondition_failed' })
  t.same(sites(world), [])
})

t.test('a bucket that waits says why, later and later, until it follows or is deleted', async (t) => {
  const world = worldWithBucket()
  setTenant(world)
  world.do(wait(world))
  const [first] = waits(world)
  world.do(wait(world))
  const [second] = waits(world)
  t.match(second, { attempts: 2, since: first?.since ?? 0, lastError: 'NoSuchBucket' })
  t.ok((second?.dueAt ?? 0) - (first?.dueAt ?? 0) > 900)
  world.do(follow(world))
  t.same(waits(world), [])
  world.do(createBucket('other'))
  world.do(wait(world, 'other'))
  world.do({ type: 'deleteBucket', ...ACME, name: 'other' })
  t.same(waits(world), [])
})

t.test('the end of it releases those that follow, and no others', async (t) => {
  const world = worldWithBucket()
  for (const name of ['own', 'waits']) world.do(createBucket(name))
  setTenant(world)
  world.do(follow(world))
  world.do(wait(world, 'waits'))
  world.do({ ...setReplication(world), name: 'own', bucketId: named(world, 'own').bucketId })
  t.same(leave(world, ['photos', 'own', 'waits']), { released: 0 }, 'it has not ended')
  world.do({ type: 'deleteTenantReplication', ...ACME })
  world.do({ type: 'deleteTenantReplication', ...ACME })
  t.match(world.run(follow(world)), { ok: false })
  t.same(leave(world, ['photos'], false), { released: 1 })
  t.same(leave(world, ['own', 'waits', 'gone']), { released: 0 })
  t.same(
    sites(world).map(({ bucket }) => bucket),
    ['own'],
  )
  t.same(waits(world), [])
  t.equal(world.get(siteKeys.tenantSite('acme')), undefined)
  t.same(recounted(world), [])
})

t.test('one that was set again meanwhile releases nothing', async (t) => {
  const world = worldWithBucket()
  setTenant(world)
  world.do(follow(world))
  world.do({ type: 'deleteTenantReplication', ...ACME })
  const { revision } = named(world)
  setTenant(world)
  t.same(world.do({ type: 'leaveTenant', ...ACME, revision, names: ['photos'], isLast: true }), {
    released: 0,
  })
  t.equal(sites(world).length, 1)
  t.equal(world.get(siteKeys.tenantSite('acme'))?.isRemoved, false)
})

t.test('it goes with its tenant, whose secret would be of no use', async (t) => {
  const world = worldWithBucket()
  setTenant(world)
  world.do({ type: 'deleteBucket', ...ACME, name: 'photos' })
  endTenant(world, 'acme')
  t.same(
    [...world.rows.keys()].filter((key) => /^(tenantSite|waitingSite)/.test(key)),
    [],
  )
})

t.test('rewrapTenantSiteSecrets replaces secrets that are still the same bytes', async (t) => {
  const world = worldWithBucket()
  setTenant(world)
  const item = { tenantId: 'acme', before: Uint8Array.of(9), after: Uint8Array.of(8, 8) }
  t.same(world.do({ type: 'rewrapTenantSiteSecrets', items: [item] }), { rewrapped: 1 })
  t.same(world.do({ type: 'rewrapTenantSiteSecrets', items: [item] }), { rewrapped: 0 })
  t.same(world.get(siteKeys.tenantSite('acme'))?.secret, Uint8Array.of(8, 8))
  t.ok(bucketId(world))
})
