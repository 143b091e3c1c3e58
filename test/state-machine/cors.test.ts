/** The row of a bucket's CORS rules, and `hasCors` in the row of the bucket. */
import t from 'tap'
import { bucketKeys } from '../../src/state-machine/buckets/keys.ts'
import type { Command } from '../../src/state-machine/commands.ts'
import type { CorsRule } from '../../src/state-machine/buckets/records.ts'
import { createBucket, disableTenant, put, recounted, rowsOf, worldWithBucket } from './map-world.ts'

const RULE: CorsRule = {
  id: 'web',
  allowedOrigins: ['https://app.example.com'],
  allowedMethods: ['GET', 'PUT'],
  allowedHeaders: ['*'],
  exposeHeaders: null,
  maxAgeSeconds: 600,
}

const name = { tenantId: 'acme', name: 'photos' } as const
const setCors = (rules: readonly CorsRule[] = [RULE]): Extract<Command, { type: 'setBucketCors' }> => ({
  type: 'setBucketCors',
  ...name,
  rules,
})
const removeCors = { type: 'deleteBucketCors', ...name } as const
const removeBucket = { type: 'deleteBucket', ...name } as const
const photos = bucketKeys.bucket('acme', 'photos')

t.test('setBucketCors and deleteBucketCors', async (t) => {
  t.test('write all rules, and set `hasCors` in the row of the bucket', async (t) => {
    const world = worldWithBucket()
    const before = world.get(photos)
    t.notOk(before && 'hasCors' in before)
    t.strictSame(world.do(setCors()), { rules: [RULE] })
    t.equal(world.get(photos)?.hasCors, true)
    t.strictSame(world.get(bucketKeys.cors(before?.id ?? '')), { rules: [RULE] })
    world.do(setCors([{ ...RULE, id: null }]))
    t.strictSame(rowsOf(world, 'cors'), [{ rules: [{ ...RULE, id: null }] }])
    t.strictSame(recounted(world), [])
    t.equal(world.do(removeCors), null)
    t.strictSame(world.get(photos), before)
    t.strictSame(rowsOf(world, 'cors'), [])
    t.equal(world.do(removeCors), null, 'no rules are not an error')
    t.strictSame(recounted(world), [])
  })

  t.test('counting in a bucket keeps `hasCors`', async (t) => {
    const world = worldWithBucket()
    world.do(setCors())
    world.do(put('a', { kind: 'empty' }, 0))
    world.do({ type: 'setBucketVersioning', ...name, versioning: 'Enabled' })
    t.match(world.get(photos), { hasCors: true, objectCount: 1, versioning: 'Enabled' })
    world.do(removeCors)
    t.match(world.get(photos), { objectCount: 1, versioning: 'Enabled' })
    t.strictSame(recounted(world), [])
  })

  t.test(
    'the rules are removed with their bucket; the next of its name has none [cors.with-bucket]',
    async (t) => {
      const world = worldWithBucket()
      world.do(setCors())
      world.do(removeBucket)
      t.strictSame(rowsOf(world, 'cors'), [])
      world.do(createBucket())
      t.equal(world.get(photos)?.hasCors, undefined)
      t.strictSame(recounted(world), [])
    },
  )

  t.test('need the bucket, and a tenant that is not disabled', async (t) => {
    const world = worldWithBucket()
    for (const command of [setCors(), removeCors])
      t.match(world.run({ ...command, name: 'films' }), { ok: false, code: 'not_found' })
    disableTenant(world, 'acme')
    for (const command of [setCors(), removeCors])
      t.match(world.run(command), { ok: false, code: 'tenant_disabled' })
  })
})

t.test('the recount reports a bucket and rules that disagree', async (t) => {
  const world = worldWithBucket()
  const { id } = world.get(photos) ?? { id: '' }
  world.rows.set(bucketKeys.cors(id), { rules: [RULE] })
  t.match(recounted(world), [/CORS rules/], 'rules without `hasCors`')
  world.do(setCors())
  world.rows.delete(bucketKeys.cors(id))
  t.match(recounted(world), [/CORS rules/], '`hasCors` without rules')
})
