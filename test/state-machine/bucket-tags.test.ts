/** The row of a bucket's tags, and its share in the metadata of the tenant. */
import t from 'tap'
import { bucketKeys } from '../../src/state-machine/buckets/keys.ts'
import { usageKeys } from '../../src/state-machine/usage/keys.ts'
import { createBucket, disableTenant, recounted, rowsOf, worldWithBucket } from './map-world.ts'

const name = { tenantId: 'acme', name: 'photos' } as const
const set = (tags: Readonly<Record<string, string>>) => ({ type: 'setBucketTags', ...name, tags }) as const
const metadataOf = (world: ReturnType<typeof worldWithBucket>) =>
  world.get(usageKeys.usage('acme'))?.metadataBytes ?? 0

t.test('setBucketTags', async (t) => {
  t.test('keeps all tags in one row, which goes with the last of them', async (t) => {
    const world = worldWithBucket()
    const before = new Map(world.rows)
    t.strictSame(world.do(set({ team: 'blue', cost: '7' })), { tags: { team: 'blue', cost: '7' } })
    world.do(set({ team: 'red' }))
    t.strictSame(rowsOf(world, 'bucketTags'), [{ tags: { team: 'red' } }])
    t.strictSame(recounted(world), [])
    for (const _ of ['once', 'again']) {
      world.do(set({}))
      t.strictSame(rowsOf(world, 'bucketTags'), [])
      t.strictSame(
        world.get(bucketKeys.bucket('acme', 'photos')),
        [...before].find(([key]) => key === bucketKeys.bucket('acme', 'photos'))?.[1],
      )
    }
    t.strictSame(recounted(world), [])
  })

  t.test('counts them in the metadata of the tenant, which its quota bounds', async (t) => {
    const world = worldWithBucket()
    const tags = { team: 'blue' }
    world.do(set(tags))
    t.equal(metadataOf(world), 256 + JSON.stringify({ tags }).length)
    const quota = {
      type: 'setQuota',
      tenantId: 'acme',
      maxBytes: null,
      maxObjects: null,
      maxBuckets: null,
    } as const
    world.do({ ...quota, maxMetadataBytes: metadataOf(world) })
    t.match(world.run(set({ team: 'green' })), { ok: false, code: 'quota_exceeded' })
    t.match(world.run(set({ team: 'red' })), { ok: true }, 'fewer bytes always fit')
    world.do(set({}))
    t.equal(metadataOf(world), 0)
  })

  t.test('needs the bucket, and a tenant that is not disabled', async (t) => {
    const world = worldWithBucket()
    t.match(world.run({ ...set({}), name: 'films' }), { ok: false, code: 'not_found' })
    disableTenant(world, 'acme')
    t.match(world.run(set({})), { ok: false, code: 'tenant_disabled' })
  })
})

t.test('the tags go with their bucket, and the next one of its name has none', async (t) => {
  const world = worldWithBucket()
  world.do(set({ team: 'blue' }))
  world.do({ type: 'deleteBucket', ...name })
  t.strictSame(rowsOf(world, 'bucketTags'), [])
  t.equal(metadataOf(world), 0)
  const { id } = world.do(createBucket())
  t.equal(world.get(bucketKeys.bucketTags(id)), undefined)
  t.strictSame(recounted(world), [])
})

t.test('a recount reports tags whose bucket is gone', async (t) => {
  const world = worldWithBucket()
  world.rows.set(bucketKeys.bucketTags('gone'), { tags: { a: 'b' } })
  t.strictSame(recounted(world), ['there are tags of a bucket that is gone'])
})
