/** Quotas are exact in the entry that changes the counted rows. */
import t from 'tap'
import { versionKeys } from '../../src/state-machine/versions/keys.ts'
import { usageKeys } from '../../src/state-machine/usage/keys.ts'
import { bucketKeys } from '../../src/state-machine/buckets/keys.ts'
import { PART_BYTES_MIN } from '../../src/state-machine/objects/limits.ts'
import {
  createBucket,
  fresh,
  type MapWorld,
  put,
  putChunks,
  recounted,
  remove,
  worldWithBucket,
} from './map-world.ts'
import { completeUpload, createUpload, putPart } from './upload-commands.ts'

const sized = (key: string, size: number) =>
  put(key, { kind: 'inline', chunkId: 'ci', sealed: Uint8Array.of(1) }, size)

function limited(limits: {
  readonly maxBytes?: number
  readonly maxObjects?: number
  readonly maxBuckets?: number
}): MapWorld {
  const world = worldWithBucket()
  const none = { maxBytes: null, maxObjects: null, maxBuckets: null }
  world.do({ type: 'setQuota', tenantId: 'acme', ...none, ...limits })
  return world
}

t.test('quota', (t) => {
  t.test('of bytes: exact, and a replaced object frees quota', (t) => {
    const world = limited({ maxBytes: 100 })
    t.match(world.run(sized('a', 101)), {
      ok: false,
      code: 'quota_exceeded',
      message: /0 of at most 100 bytes/,
    })
    world.do(sized('a', 60))
    t.match(world.run(sized('b', 41)), { code: 'quota_exceeded' })
    world.do(sized('b', 40))
    t.match(world.run(sized('a', 61)), { code: 'quota_exceeded' })
    t.match(world.run(sized('a', 60)), { ok: true })
    world.do(remove('b'))
    t.match(world.run(sized('a', 100)), { ok: true })
    t.end()
  })

  t.test('of bytes: older versions count, delete markers do not', (t) => {
    const world = limited({ maxBytes: 100 })
    world.do({ type: 'setBucketVersioning', tenantId: 'acme', name: 'photos', versioning: 'Enabled' })
    const { versionId } = world.do(sized('a', 60)).object
    t.match(world.run(sized('a', 41)), { code: 'quota_exceeded' })
    world.do(remove('a'))
    t.match(world.run(sized('a', 41)), { code: 'quota_exceeded' }, 'hidden versions are stored')
    world.do(remove('a', versionId))
    t.match(world.run(sized('a', 100)), { ok: true })
    t.end()
  })

  t.test('of bytes: parts count from their entry on, and not again when they are completed', (t) => {
    const world = limited({ maxBytes: 2 * PART_BYTES_MIN })
    const { uploadId } = world.do(createUpload('k'))
    const name = { key: 'k', uploadId }
    const part = (partNumber: number, id: string) =>
      putPart({ ...name, partNumber }, [fresh(id, { size: PART_BYTES_MIN })])
    world.do(part(1, 'c1'))
    world.do(part(2, 'c2'))
    t.match(world.run(part(3, 'c3')), { code: 'quota_exceeded' })
    t.match(world.run(sized('b', 1)), { code: 'quota_exceeded' })
    t.match(world.run(part(2, 'c3')), { ok: true }, 'in place of another')
    t.match(world.run(completeUpload(name, 2)), { ok: true })
    t.match(world.get(usageKeys.usage('acme')), { uploadBytes: 0, logicalBytes: 2 * PART_BYTES_MIN })
    t.match(world.run(sized('b', 1)), { code: 'quota_exceeded' })
    t.same(recounted(world), [])
    t.end()
  })

  t.test('of objects: keys whose newest version is an object', (t) => {
    const world = limited({ maxObjects: 2 })
    world.do({ type: 'setBucketVersioning', tenantId: 'acme', name: 'photos', versioning: 'Enabled' })
    world.do(sized('a', 1))
    world.do(sized('b', 1))
    t.match(world.run(sized('a', 1)), { ok: true }, 'another version is not another object')
    t.match(world.run(sized('c', 1)), { code: 'quota_exceeded', message: /2 of at most 2 objects/ })
    world.do(remove('b'))
    t.match(world.run(sized('c', 1)), { ok: true })
    t.match(world.run(sized('b', 1)), { code: 'quota_exceeded' }, 'hidden by its marker it did not count')
    t.end()
  })

  t.test('of buckets, below the limit of the cluster', (t) => {
    const world = limited({ maxBuckets: 2 })
    world.do(createBucket('two'))
    t.match(world.run(createBucket('three')), { code: 'quota_exceeded' })
    t.match(world.run(createBucket('three', { bucketsMax: 2 })), { code: 'invalid_request' })
    t.end()
  })

  t.test('that is lowered keeps present objects, permits smaller replacements, and no growth', (t) => {
    const world = worldWithBucket()
    world.do(sized('a', 60))
    world.do(putChunks('b', ['c1']))
    const none = { maxObjects: null, maxBuckets: null }
    world.do({ type: 'setQuota', tenantId: 'acme', maxBytes: 10, ...none })
    t.match(world.run(sized('a', 61)), { code: 'quota_exceeded' })
    t.match(world.run(sized('a', 60)), { ok: true })
    t.match(world.run(sized('a', 50)), { ok: true })
    t.match(world.run(remove('b')), { ok: true })
    t.match(
      world.run(sized('c', 0)),
      { code: 'invalid_argument' },
      'no growth passes the quota: the body is refused',
    )
    t.end()
  })

  t.test('without any limit leaves no row; invalid_argument, not_found', (t) => {
    const world = limited({ maxBytes: 5 })
    t.ok(world.get(usageKeys.quota('acme')))
    const none = { maxBytes: null, maxObjects: null, maxBuckets: null }
    const command = { type: 'setQuota', tenantId: 'acme', ...none } as const
    t.match(world.run({ ...command, maxBytes: -1 }), { code: 'invalid_argument' })
    t.match(world.run({ ...command, maxObjects: 1.5 }), { code: 'invalid_argument' })
    t.match(world.run({ ...command, tenantId: 'none' }), { code: 'not_found' })
    world.do(command)
    t.equal(world.get(usageKeys.quota('acme')), undefined)
    t.match(world.run(command), { ok: true }, 'and again')
    t.match(world.run({ ...command, maxBytes: 0 }), { ok: true })
    t.match(world.run(sized('a', 1)), { code: 'quota_exceeded' }, 'zero is a limit')
    t.end()
  })
  t.end()
})

t.test('idempotency keys', (t) => {
  const DAY_MS = 24 * 3_600_000
  const requested = { key: 'i1', fingerprint: 'f1' }

  t.test('return the first answer again, regardless of later changes', (t) => {
    const world = worldWithBucket()
    const first = world.do({ ...sized('k', 5), idempotency: requested })
    t.equal(first.replayed, false)
    const rows = new Map(world.rows)
    t.same(world.do({ ...sized('k', 5), idempotency: requested }), { ...first, replayed: true })
    t.same(world.rows, rows, 'and nothing changes')
    world.do(sized('k', 6))
    const never = { ifMatch: ['none'], ifNoneMatch: null }
    const again = world.do({ ...sized('k', 5), idempotency: requested, precondition: never })
    t.same(again, { ...first, replayed: true }, 'before any precondition is checked')
    t.match(world.get(usageKeys.usage('acme')), { logicalBytes: 6, objects: 1 })
    t.end()
  })

  t.test(
    'idempotency_conflict for another request; other object keys and idempotency keys are independent',
    (t) => {
      const world = worldWithBucket()
      world.do({ ...sized('k', 5), idempotency: requested })
      const other = { ...requested, fingerprint: 'f2' }
      t.match(world.run({ ...sized('k', 5), idempotency: other }), {
        ok: false,
        code: 'idempotency_conflict',
      })
      t.match(world.run({ ...sized('j', 5), idempotency: other }), { ok: true })
      t.match(world.run({ ...sized('k', 5), idempotency: { ...other, key: 'i2' } }), { ok: true })
      t.match(world.run({ ...sized('k', 5), idempotency: { ...requested, key: '' } }), {
        code: 'invalid_argument',
      })
      t.end()
    },
  )

  t.test('expire after a day, and a refused write keeps none [idempotency.day]', (t) => {
    const world = worldWithBucket()
    const tooSmall = { ...sized('k', 0), idempotency: requested }
    t.match(world.run(tooSmall), { ok: false })
    world.do({ ...sized('k', 5), idempotency: requested })
    const at = world.time + DAY_MS
    const { versionId: id } = world.get(versionKeys.object(bucketId(world), 'k')) ?? {}
    world.time = at - 8
    const command = { type: 'expire', items: [{ at, id: id ?? '' }] } as const
    t.same(world.do(command), { expired: 0 })
    t.match(world.do({ ...sized('k', 5), idempotency: requested }), { replayed: true })
    t.same(world.do(command), { expired: 1 })
    t.match(world.do({ ...sized('k', 5), idempotency: { ...requested, fingerprint: 'f2' } }), {
      replayed: false,
    })
    t.same(recounted(world), [])
    t.end()
  })
  t.end()
})

function bucketId(world: MapWorld): string {
  return world.get(bucketKeys.bucket('acme', 'photos'))?.id ?? ''
}
