import t from 'tap'
import { tenantKeys } from '../../src/state-machine/tenants/keys.ts'
import { chunkKeys } from '../../src/state-machine/chunks/keys.ts'
import { bucketKeys } from '../../src/state-machine/buckets/keys.ts'
import { bodyKeys } from '../../src/state-machine/bodies/keys.ts'
import type { RepairRecord } from '../../src/state-machine/chunks/records.ts'
import { isVersionId, VERSION_ID_MAX, versionIdAt } from '../../src/state-machine/base/version-id.ts'
import {
  createTenant,
  dropCopy,
  found,
  fresh,
  MapWorld,
  put,
  putChunks,
  recounted,
  releaseAll,
  rowsOf,
  worldAtLevel2,
  worldWithBucket,
} from './map-world.ts'
import { timesAt } from '../helpers/entry-time.ts'

const inline = { kind: 'inline', chunkId: 'ci', sealed: Uint8Array.of(1, 2, 3) } as const
const photos = (world: MapWorld) => {
  const bucket = world.get(bucketKeys.bucket('acme', 'photos'))
  if (bucket === undefined) throw new Error('no bucket')
  return bucket
}
const LATER = 'birth-later'
const tasksOf = (world: MapWorld) =>
  [...world.rows].filter(([key]) => key.startsWith('repair\u0000')).map(([, row]) => row as RepairRecord)
const remove = (key: string) =>
  ({ type: 'deleteObject', tenantId: 'acme', bucket: 'photos', key, versionId: null, ifMatch: null }) as const
const kindsIn = (world: MapWorld) =>
  [...world.rows.keys()].filter((key) => key.startsWith('in\u0000')).map((key) => key.split('\u0000')[2])

t.test('createBucket', (t) => {
  t.test('makes an empty unversioned bucket with an id of its own and counts it', (t) => {
    const world = worldWithBucket()
    t.match(photos(world), { name: 'photos', versioning: 'Unversioned', objectCount: 0, logicalBytes: 0 })
    t.equal(world.get(tenantKeys.tenant('acme'))?.bucketCount, 1)
    t.end()
  })

  t.test('gives a bucket made again under the same name another id', (t) => {
    const world = worldWithBucket()
    const before = photos(world).id
    world.entry([
      { type: 'deleteBucket', tenantId: 'acme', name: 'photos' },
      {
        type: 'createBucket',
        tenantId: 'acme',
        name: 'photos',
        bucketsMax: 10,
        versioning: 'Unversioned',
        objectLockEnabled: false,
      },
      {
        type: 'createBucket',
        tenantId: 'acme',
        name: 'other',
        bucketsMax: 10,
        versioning: 'Unversioned',
        objectLockEnabled: false,
      },
    ])
    t.not(photos(world).id, before)
    t.not(photos(world).id, world.get(bucketKeys.bucket('acme', 'other'))?.id, 'also within one entry')
    t.equal(world.get(tenantKeys.tenant('acme'))?.bucketCount, 2)
    t.end()
  })

  t.test('bucket_already_exists when the tenant has one of that name; another tenant may use it', (t) => {
    const world = worldWithBucket()
    world.do(createTenant('beta'))
    const create = {
      type: 'createBucket',
      name: 'photos',
      bucketsMax: 10,
      versioning: 'Unversioned',
      objectLockEnabled: false,
    } as const
    t.match(world.run({ ...create, tenantId: 'acme' }), { ok: false, code: 'bucket_already_exists' })
    t.match(world.run({ ...create, tenantId: 'beta' }), { ok: true })
    t.end()
  })

  t.test('invalid_request when the tenant has the maximum number, invalid_bucket_name, not_found', (t) => {
    const world = worldWithBucket()
    const create = {
      type: 'createBucket',
      tenantId: 'acme',
      name: 'b',
      bucketsMax: 1,
      versioning: 'Unversioned',
      objectLockEnabled: false,
    } as const
    t.match(world.run(create), { ok: false, code: 'invalid_request' })
    t.match(world.run({ ...create, name: '' }), { ok: false, code: 'invalid_bucket_name' })
    t.match(world.run({ ...create, tenantId: 'none' }), { ok: false, code: 'not_found' })
    t.end()
  })
  t.end()
})

t.test('deleteBucket', (t) => {
  t.test('bucket_not_empty while an object is in it, not_found when it does not exist', (t) => {
    const world = worldWithBucket()
    const command = { type: 'deleteBucket', tenantId: 'acme', name: 'photos' } as const
    world.do(put('k', { kind: 'empty' }, 0))
    t.match(world.run(command), { ok: false, code: 'bucket_not_empty' })
    world.do(remove('k'))
    t.equal(world.do(command), null)
    t.match(world.run(command), { ok: false, code: 'not_found' })
    t.equal(world.get(tenantKeys.tenant('acme'))?.bucketCount, 0)
    t.end()
  })
  t.end()
})

t.test('putObject', (t) => {
  t.test('stores an inline body under the version, separately from the object', (t) => {
    const world = worldWithBucket()
    const { object } = world.do(put('a/b', inline, 30))
    t.match(object, { key: 'a/b', size: 30, body: { kind: 'inline', chunkId: 'ci' } })
    t.same(world.get(bodyKeys.inlineBody(photos(world).id, object.versionId)), { sealed: inline.sealed })
    t.match(photos(world), { objectCount: 1, logicalBytes: 30 })
    t.end()
  })

  t.test('replaces the object of the key: old body gone, old chunks released, counts adjusted', (t) => {
    const world = worldWithBucket()
    world.do(put('k', inline, 30))
    world.do(putChunks('k', ['c1', 'c2']))
    t.match(photos(world), { objectCount: 1, logicalBytes: 20 })
    t.same(
      new Set(kindsIn(world)),
      new Set(['inlineBody', 'manifestPage', 'object']),
      'a download may be reading it',
    )
    releaseAll(world)
    t.same(new Set(kindsIn(world)), new Set(['manifestPage', 'object']))
    world.do(putChunks('k', [found('c2'), 'c3']))
    t.match(world.get(chunkKeys.chunk('acme', 'c1')), { references: 1, condemnedAt: null })
    releaseAll(world)
    t.match(world.get(chunkKeys.chunk('acme', 'c1')), { references: 0, condemnedAt: world.index })
    t.match(world.get(chunkKeys.chunk('acme', 'c2')), { references: 1, condemnedAt: null })
    t.match(world.get(chunkKeys.chunk('acme', 'c3')), { references: 1, condemnedAt: null })
    world.do(put('k', { kind: 'empty' }, 0))
    t.match(photos(world), { objectCount: 1, logicalBytes: 0 })
    releaseAll(world)
    t.same(kindsIn(world), ['object'])
    t.match(world.get(chunkKeys.chunk('acme', 'c2')), { references: 0, condemnedAt: world.index })
    world.do(put('k', inline, 30))
    t.same(rowsOf(world, 'discarded'), [], 'an empty body has no rows to keep')
    t.end()
  })

  t.test('at level 2 drops a small body in the same entry, as older members do', (t) => {
    const world = worldAtLevel2()
    world.do(put('k', inline, 30))
    world.do(putChunks('k', ['c1', 'c2']))
    t.same(new Set(kindsIn(world)), new Set(['object', 'manifestPage']))
    world.do(putChunks('k', [found('c2'), 'c3']))
    t.match(world.get(chunkKeys.chunk('acme', 'c1')), { references: 0, condemnedAt: world.index })
    world.do(put('k', { kind: 'empty' }, 0))
    t.same(kindsIn(world), ['object'])
    t.same(rowsOf(world, 'discarded'), [])
    t.end()
  })

  t.test('from level 3 on keeps a small body that a download may be reading', (t) => {
    const world = worldWithBucket()
    world.featureLevel = 3
    world.do(put('k', inline, 30))
    world.do(put('k', { kind: 'empty' }, 0))
    t.same(new Set(kindsIn(world)), new Set(['inlineBody', 'object']))
    t.end()
  })

  t.test('pages a manifest at 1,024 links and counts every occurrence of a chunk', (t) => {
    const world = worldWithBucket()
    const ids = Array.from({ length: 2500 }, (_, i) => `c${i % 700}`)
    const { object } = world.do(putChunks('big', ids))
    t.same(object.body, { kind: 'chunks', count: 2500 })
    const pages = [0, 1, 2, 3].map((page) =>
      world
        .get(bodyKeys.manifestPage(photos(world).id, object.versionId, page))
        ?.links.map((link) => link.id),
    )
    t.same(
      pages.map((page) => page?.length),
      [1024, 1024, 452, undefined],
    )
    t.same(pages.slice(0, 3).flat(), ids)
    t.equal(world.get(chunkKeys.chunk('acme', 'c0'))?.references, 4)
    t.equal(world.get(chunkKeys.chunk('acme', 'c699'))?.references, 3)
    t.same(world.do(remove('big')), { existed: true, version: object, isMade: false })
    t.equal(
      world.get(chunkKeys.chunk('acme', 'c0'))?.references,
      4,
      'too many links for one entry: discarded',
    )
    t.match(photos(world), { objectCount: 0, versionCount: 0, logicalBytes: 0 }, 'but no longer counted')
    t.equal(releaseAll(world), 10, 'at most 256 links of one page in each step')
    t.equal(world.get(chunkKeys.chunk('acme', 'c0'))?.references, 0)
    t.same(kindsIn(world), [])
    t.same(recounted(world), [])
    t.end()
  })

  t.test('chunks_gone names each chunk that is absent or of another birth, and writes nothing', (t) => {
    const world = worldWithBucket()
    world.do(putChunks('k', ['c1', 'c2']))
    const before = new Map(world.rows)
    const other = found('c2', { birth: 'birth-0' })
    const reply = world.run(putChunks('j', [found('c1'), other, found('c9'), found('c9'), 'c4']))
    t.match(reply, { ok: false, code: 'chunks_gone', chunks: ['c2', 'c9'] })
    t.same(world.rows, before)
    t.end()
  })

  t.test('allows a chunk to repeat in the manifest that uploads it', (t) => {
    const world = worldWithBucket()
    world.do(putChunks('k', [found('c1'), 'c1', found('c1')]))
    t.equal(world.get(chunkKeys.chunk('acme', 'c1'))?.references, 3)
    t.end()
  })

  t.test('revives a condemned chunk', (t) => {
    const world = worldWithBucket()
    world.do(putChunks('k', ['c1']))
    world.do(remove('k'))
    releaseAll(world)
    t.match(world.get(chunkKeys.chunk('acme', 'c1')), { references: 0, condemnedAt: world.index })
    world.do(putChunks('j', [found('c1')]))
    t.match(world.get(chunkKeys.chunk('acme', 'c1')), { references: 1, condemnedAt: null })
    t.end()
  })

  t.test('keeps the first row when two gateways upload the same chunk at once', (t) => {
    const world = worldWithBucket()
    world.do(putChunks('k', [fresh('c1', { missing: ['n3'] })]))
    world.do(putChunks('j', [fresh('c1', { birth: LATER, replicas: ['n7', 'n8'], missing: ['n9'] })]))
    t.match(world.get(chunkKeys.chunk('acme', 'c1')), {
      birth: 'birth-c1',
      replicas: ['n1', 'n2'],
      owed: ['n3'],
      references: 2,
    })
    t.equal(tasksOf(world).length, 1, 'no task for a birth that no row names')
    t.same(world.get(chunkKeys.repairTotal()), { count: 1 })
    t.end()
  })

  t.test(
    'takes over a row that has too few copies: tasks of the old birth end, its copies get drop rows',
    (t) => {
      const world = worldWithBucket()
      world.do(putChunks('a', [fresh('c1', { replicas: ['n1'], missing: ['n2'] })], 1))
      const other = fresh('c1', { birth: LATER, sealedSize: 40, replicas: ['n1', 'n3'], missing: ['n2'] })
      world.do(putChunks('b', [other]))
      t.match(world.get(chunkKeys.chunk('acme', 'c1')), {
        birth: LATER,
        sealedSize: 40,
        replicas: ['n1', 'n3'],
        owed: ['n2'],
        references: 2,
      })
      t.match(tasksOf(world), [{ birth: LATER, target: 'n2' }])
      for (const node of ['n1', 'n2'])
        t.ok(world.get(chunkKeys.drop(node, 'birth-c1', 'c1')), `${node} gets a drop row`)
      t.notOk(world.get(chunkKeys.making('birth-c1', 'c1')))
      t.same(world.get(chunkKeys.making(LATER, 'c1')), { tenantId: 'acme' })
      t.end()
    },
  )

  t.test('chunks_gone when a copy was struck off between the read of an upload and its commit', (t) => {
    const world = worldWithBucket()
    world.do(putChunks('k', ['c1', 'c2']))
    world.do(dropCopy('c2', 'n1'))
    const before = new Map(world.rows)
    const reply = world.run(putChunks('j', [found('c1'), found('c2')]))
    t.match(reply, { ok: false, code: 'chunks_gone', chunks: ['c2'] }, 'never acknowledged on one copy')
    t.same(world.rows, before)
    t.end()
  })

  t.test('chunks_gone when neither the row nor the upload has enough copies', (t) => {
    const world = worldWithBucket()
    world.do(putChunks('k', ['c1']))
    world.do(dropCopy('c1', 'n1'))
    const other = fresh('c1', { birth: LATER, replicas: ['n3'] })
    t.match(world.run(putChunks('j', [other])), { ok: false, code: 'chunks_gone', chunks: ['c1'] })
    t.match(world.get(chunkKeys.chunk('acme', 'c1')), { birth: 'birth-c1', replicas: ['n2'], references: 1 })
    t.end()
  })

  t.test('chunks_gone when an upload names the birth of a present row: a birth is used once', (t) => {
    const world = worldWithBucket()
    world.do(putChunks('k', ['c1']))
    const again = fresh('c1', { replicas: ['n3', 'n4'] })
    t.match(world.run(putChunks('j', [again])), { ok: false, code: 'chunks_gone', chunks: ['c1'] })
    t.end()
  })

  t.test('keeps chunks of tenants apart', (t) => {
    const world = worldWithBucket()
    world.do(createTenant('beta'))
    world.do({
      type: 'createBucket',
      tenantId: 'beta',
      name: 'photos',
      bucketsMax: 1,
      versioning: 'Unversioned',
      objectLockEnabled: false,
    })
    world.do(putChunks('k', ['c1']))
    const reply = world.run({ ...putChunks('k', [found('c1')]), tenantId: 'beta' })
    t.match(reply, { ok: false, code: 'chunks_gone' })
    t.end()
  })

  t.test('invalid_key when the key is empty, contains a NUL or is not valid Unicode', (t) => {
    const world = worldWithBucket()
    for (const key of ['', 'a\u0000', '\ud800x']) {
      t.match(world.run(put(key, { kind: 'empty' }, 0)), { ok: false, code: 'invalid_key' })
    }
    t.end()
  })

  t.test('not_found when the bucket does not exist', (t) => {
    const world = worldWithBucket()
    const elsewhere = { ...put('k', { kind: 'empty' }, 0), bucket: 'nowhere' }
    t.match(world.run(elsewhere), { ok: false, code: 'not_found' })
    t.match(world.run({ ...remove('k'), bucket: 'nowhere' }), { ok: false, code: 'not_found' })
    t.end()
  })

  t.test('invalid_argument when a body would lose or invent bytes', (t) => {
    const world = worldWithBucket()
    const refused = { ok: false, code: 'invalid_argument' }
    t.match(world.run(put('k', { kind: 'empty' }, 5)), refused)
    t.match(world.run(put('k', inline, 0)), refused)
    t.match(world.run(put('k', { kind: 'chunks', chunks: [], copiesMin: 1 }, 0)), refused)
    t.match(world.run({ ...putChunks('k', ['c1']), size: 11 }), refused)
    t.match(world.run(put('k', inline, -1)), refused)
    t.match(world.run(putChunks('k', [fresh('c1', { replicas: [] })])), refused)
    t.end()
  })
  t.end()
})

t.test('deleteObject', (t) => {
  t.test('reports whether an object existed, and repeating it changes nothing', (t) => {
    const world = worldWithBucket()
    const { object } = world.do(put('k', inline, 30))
    t.same(world.do(remove('k')), { existed: true, version: object, isMade: false })
    const rows = new Map(world.rows)
    t.same(world.do(remove('k')), { existed: false, version: null, isMade: false })
    t.same(world.rows, rows)
    t.same(kindsIn(world), ['inlineBody'])
    releaseAll(world)
    t.same(kindsIn(world), [])
    t.match(photos(world), { objectCount: 0, logicalBytes: 0 })
    t.end()
  })
  t.end()
})

t.test('versionId', (t) => {
  t.test('has 26 characters and ascends with time, index, ordinal and item', (t) => {
    const ids = [
      { ...timesAt(0), index: 1, ordinal: 0 },
      { ...timesAt(0), index: 1, ordinal: 1 },
      { ...timesAt(1), index: 2, ordinal: 0 },
      { ...timesAt(31), index: 31, ordinal: 31 },
      { ...timesAt(32), index: 32, ordinal: 0 },
      { ...timesAt(1_700_000_000_000), index: 2 ** 40, ordinal: 4095 },
      { ...timesAt(2 ** 48 - 1), index: Number.MAX_SAFE_INTEGER, ordinal: 2 ** 15 - 1 },
    ].flatMap((context) => [versionIdAt(context), versionIdAt(context, 1), versionIdAt(context, 1023)])
    t.same([...ids].sort(), ids)
    t.equal(new Set(ids).size, ids.length)
    for (const id of ids) t.match(id, /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/)
    t.ok(ids.every(isVersionId) && (ids.at(-1) ?? '') <= VERSION_ID_MAX)
    t.throws(() => versionIdAt({ ...timesAt(0), index: 0, ordinal: 2 ** 15 }), 'instead of wrapping')
    t.throws(
      () => versionIdAt({ ...timesAt(0), index: 0, ordinal: 0 }, 1024),
      'instead of reaching the next ordinal',
    )
    t.end()
  })
  t.end()
})
