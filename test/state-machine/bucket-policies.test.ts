/** Bucket policies: one row each, which is removed with its bucket. */
import t from 'tap'
import { bucketKeys } from '../../src/state-machine/buckets/keys.ts'
import { BUCKET_POLICY_BYTES_MAX } from '../../src/state-machine/buckets/records.ts'
import { createBucket, recounted, rowsOf, worldWithBucket } from './map-world.ts'

const NAME = { tenantId: 'acme', name: 'photos' }
const set = (policy: string) => ({ type: 'setBucketPolicy', ...NAME, policy }) as const
const remove = { type: 'deleteBucketPolicy', ...NAME } as const

t.test('setBucketPolicy', (t) => {
  t.test('keeps the text with the time of its entry, and replaces it', (t) => {
    const world = worldWithBucket()
    world.do(set('{"a":1}'))
    t.same(world.do(set('{"b":2}')), { policy: '{"b":2}', updatedAt: world.time })
    t.same(rowsOf(world, 'bucketPolicy'), [{ policy: '{"b":2}', updatedAt: world.time }])
    t.same(recounted(world), [])
    t.end()
  })

  t.test('refuses a bucket that does not exist, another tenant, and a policy that is too large', (t) => {
    const world = worldWithBucket()
    t.match(world.run({ ...set('{}'), name: 'films' }), { ok: false, code: 'not_found' })
    t.match(world.run({ ...set('{}'), tenantId: 'rival' }), { ok: false, code: 'not_found' })
    t.match(world.run(set('x'.repeat(BUCKET_POLICY_BYTES_MAX + 1))), { ok: false, code: 'invalid_request' })
    t.match(world.run(set('x'.repeat(BUCKET_POLICY_BYTES_MAX))), { ok: true })
    t.end()
  })
  t.end()
})

t.test('deleteBucketPolicy removes it; repeating changes nothing', (t) => {
  const world = worldWithBucket()
  world.do(set('{}'))
  world.do(remove)
  t.same(rowsOf(world, 'bucketPolicy'), [])
  const before = new Map(world.rows)
  world.do(remove)
  t.same(world.rows, before)
  t.match(world.run({ ...remove, name: 'films' }), { ok: false, code: 'not_found' })
  t.end()
})

t.test(
  'a deleted bucket removes its policy, and a new one of its name starts without one [policies.bucket-gone]',
  (t) => {
    const world = worldWithBucket()
    world.do(set('{}'))
    world.do({ type: 'deleteBucket', ...NAME })
    t.same(rowsOf(world, 'bucketPolicy'), [])
    const { id } = world.do(createBucket('photos'))
    t.equal(world.get(bucketKeys.bucketPolicy(id)), undefined)
    t.same(recounted(world), [])
    t.end()
  },
)

t.test('a recount reports a policy whose bucket is gone', (t) => {
  const world = worldWithBucket()
  world.rows.set(bucketKeys.bucketPolicy('gone'), { policy: '{}', updatedAt: 1 })
  t.same(recounted(world), ['there is a policy of a bucket that is gone'])
  t.end()
})
