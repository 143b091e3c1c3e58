/** The bounds of notification configs: exact over all buckets of a tenant, by its origins, and never in the way of less. */
import t from 'tap'
import { eventKeys } from '../../src/state-machine/events/keys.ts'
import { hookOf, requested, setBounded, setNotifications } from './hook-commands.ts'
import {
  createBucket,
  deleteTenant,
  disableTenant,
  type MapWorld,
  put,
  recounted,
  remove,
  worldWithBucket,
} from './map-world.ts'

const HOST = 'https://one.example'
const at = (id: string, url = `${HOST}/${id}`) => requested(id, { url })
const many = (count: number, prefix = 'h') => Array.from({ length: count }, (_, n) => at(`${prefix}${n}`))

function twoBuckets(): MapWorld {
  const world = worldWithBucket()
  world.do(createBucket('films'))
  return world
}

const counts = (world: MapWorld, origin = HOST) => [
  world.get(eventKeys.tenantHooks('acme'))?.hooks ?? 0,
  world.get(eventKeys.originHooks('acme', origin))?.hooks ?? 0,
]

t.test('a tenant cannot have more configs than its bound by spreading them over buckets', async (t) => {
  const world = twoBuckets()
  world.do(setBounded(many(3), { tenant: 5 }))
  t.match(world.run(setBounded(many(3), { bucket: 'films', tenant: 5 })), {
    ok: false,
    code: 'quota_exceeded',
    message:
      /would have 6 notification configs in all its buckets, more than limits\.notification_configs_per_tenant \(5\)/,
  })
  t.same(counts(world), [3, 3], 'nothing of it is set')
  world.do(setBounded(many(2), { bucket: 'films', tenant: 5 }))
  t.same(counts(world), [5, 5])
  t.match(world.run(setBounded(many(4), { tenant: 5 })), { ok: false, code: 'quota_exceeded' })
  world.do(setBounded(many(3, 'other'), { tenant: 5 }))
  t.same(counts(world), [5, 5], 'in place of others they are no more')
  t.same(recounted(world), [])
})

t.test('one write cannot be followed by more requests to one origin than its bound', async (t) => {
  const world = twoBuckets()
  world.do(setBounded(many(2), { origin: 3 }))
  const refused = world.run(
    setBounded([...many(2), at('x', 'https://two.example/')], { bucket: 'films', origin: 3 }),
  )
  t.match(refused, {
    ok: false,
    code: 'quota_exceeded',
    message:
      /would have 4 notification configs that lead to https:\/\/one\.example in all.*notification_configs_per_origin \(3\)/,
  })
  world.do(setBounded([at('a'), at('b', 'https://two.example/')], { bucket: 'films', origin: 3 }))
  t.same(
    [counts(world), counts(world, 'https://two.example')],
    [
      [4, 3],
      [4, 1],
    ],
  )
  t.match(
    world.run(setBounded([at('a'), at('b')], { bucket: 'films', origin: 3 })),
    { code: 'quota_exceeded' },
    'a config that moves to the origin counts there',
  )
  world.do(
    setBounded([at('a', 'https://two.example/'), at('b', 'https://two.example/')], {
      bucket: 'films',
      origin: 3,
    }),
  )
  t.same(
    [counts(world), counts(world, 'https://two.example')],
    [
      [4, 2],
      [4, 2],
    ],
    'and no more where it was',
  )
  t.same(recounted(world), [])
})

t.test('the count follows every way in which a config goes', async (t) => {
  const world = twoBuckets()
  world.do(setBounded(many(3)))
  world.do(setBounded(many(2), { bucket: 'films' }))
  for (const bucket of ['photos', 'films']) {
    world.do({ ...put('k', { kind: 'empty' }, 0), bucket })
    world.do(remove('k', null, bucket))
  }
  world.do(setBounded(many(1)))
  t.same(counts(world), [3, 3], 'left out of a list, though its deliveries are still there')
  world.do({ type: 'deleteBucket', tenantId: 'acme', name: 'films' })
  t.same(counts(world), [1, 1], 'with its bucket')
  world.do(setNotifications([]))
  t.same(counts(world), [0, 0], 'cleared without bounds')
  t.equal(world.rows.has(eventKeys.tenantHooks('acme')), false)
  world.do(setBounded(many(2)))
  disableTenant(world, 'acme')
  const operationId = 'end-of-acme'
  world.do(deleteTenant('acme', operationId))
  world.do({ type: 'eraseTenant', tenantId: 'acme', operationId, step: { kind: 'bucket', bucket: 'photos' } })
  t.same(counts(world), [0, 0], 'with its tenant')
  t.same(recounted(world), [])
})

t.test('configs of before the bounds do not count until they are set again, and are kept then', async (t) => {
  const world = twoBuckets()
  world.do(setNotifications(many(4)))
  t.same(counts(world), [0, 0])
  const { updatedAt } = hookOf(world, 'h0')
  world.do(setBounded(many(4), { tenant: 2, origin: 2 }))
  t.same(counts(world), [4, 4], 'though they are beyond both bounds')
  t.match(hookOf(world, 'h0'), { updatedAt, countedOrigin: HOST }, 'that they count now is no change of them')
  t.match(world.run(setBounded(many(5), { tenant: 2, origin: 2 })), { code: 'quota_exceeded' })
  t.match(world.run(setBounded(many(1), { bucket: 'films', tenant: 2 })), { code: 'quota_exceeded' })
  world.do(setBounded(many(3), { tenant: 2, origin: 2 }))
  t.same(counts(world), [3, 3], 'fewer always fit')
  world.do(setNotifications([...many(3), at('more')]))
  t.same(counts(world), [3, 3], 'a command without bounds counts nothing more, and takes nothing away')
  t.same(recounted(world), [])
})

t.test('invalid_argument unless each config has an origin', async (t) => {
  const world = worldWithBucket()
  const command = setBounded(many(2))
  const origins = (...origins: string[]) => ({
    ...command,
    bounds: { configsMax: 9, configsOfOriginMax: 9, origins },
  })
  for (const wrong of [origins(HOST), origins(HOST, ''), origins(HOST, 'a\u0000b')])
    t.match(world.run(wrong), { ok: false, code: 'invalid_argument' })
})
