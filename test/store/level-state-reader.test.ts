import assert from 'node:assert/strict'
import t from 'tap'
import fc from 'fast-check'
import type { BucketRecord } from '../../src/state-machine/buckets/records.ts'
import type { ListObjectsQuery } from '../../src/store/reads/object-listing.ts'
import { createTenant, put, putChunks } from '../state-machine/map-world.ts'
import { StoreWorld } from './store-world.ts'
import { adminTokenByHash } from '../../src/state-machine/tenants/admin-tokens.ts'
import { bodyRanges } from '../../src/state-machine/bodies/keys.ts'
import { bucketKeys, bucketRanges } from '../../src/state-machine/buckets/keys.ts'
import { manifestLinks } from '../../src/store/reads/manifest-reads.ts'
import { pageOfAccessKeys } from '../../src/store/reads/access-key-listing.ts'
import { pageOfObjects } from '../../src/store/reads/object-listing.ts'
import { tenantKeys, tenantRanges } from '../../src/state-machine/tenants/keys.ts'
import { versionKeys } from '../../src/state-machine/versions/keys.ts'
import { levelOf } from '../helpers/database-rows.ts'

const empty = (key: string) => put(key, { kind: 'empty' }, 0)
const byBytes = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b))

/** A listing as the contract specifies it, over all keys at once. */
function naive(allKeys: readonly string[], { prefix, delimiter }: ListObjectsQuery): string[] {
  const lines = new Set<string>()
  for (const key of [...allKeys].sort(byBytes)) {
    if (!key.startsWith(prefix)) continue
    const at = delimiter === '' ? -1 : key.indexOf(delimiter, prefix.length)
    lines.add(at < 0 ? `object ${key}` : `prefix ${key.slice(0, at + delimiter.length)}`)
  }
  return [...lines]
}

/** Objects and common prefixes of all pages, merged back into one order; every page is checked for its bound. */
async function pagedThrough(world: StoreWorld, query: ListObjectsQuery): Promise<string[]> {
  const lines: string[] = []
  let after = query.after
  for (;;) {
    const page = await pageOfObjects(world.store.reader, world.photos.id, { ...query, after })
    const found = [
      ...page.objects.map(({ key }) => ({ key, line: `object ${key}` })),
      ...page.commonPrefixes.map((key) => ({ key, line: `prefix ${key}` })),
    ].sort((a, b) => byBytes(a.key, b.key))
    assert.ok(found.length <= query.limit)
    assert.equal(page.next === null || found.length === query.limit, true, 'a page before the last is full')
    lines.push(...found.map(({ line }) => line))
    if (page.next === null) return lines
    assert.equal(page.next, found.at(-1)?.key)
    after = page.next
  }
}

const part = fc.constantFrom(
  'a',
  'b',
  '/',
  '//',
  '..',
  '.',
  '\u0001',
  'é',
  '\ud7ff',
  '\ue000',
  '\uffff',
  '😀',
  '\u{10ffff}',
  '-',
)
const text = (minLength: number) => fc.array(part, { minLength, maxLength: 5 }).map((parts) => parts.join(''))

t.test('objects', (t) => {
  t.test('equals a naive listing, page by page, for any keys, prefix, delimiter and limit', async (t) => {
    const world = await StoreWorld.withBucket(t)
    const query = fc.record({
      prefix: fc.oneof(fc.constant(''), text(1)),
      delimiter: fc.oneof(fc.constant('/'), fc.constant(''), text(1)),
      limit: fc.integer({ min: 1, max: 7 }),
      after: fc.constant(''),
    })
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(text(1), { maxLength: 30, size: 'max' }),
        fc.array(query, { minLength: 4, maxLength: 8 }),
        async (allKeys, queries) => {
          await world.do({
            type: 'createBucket',
            tenantId: 'acme',
            name: 'swap',
            bucketsMax: 10,
            versioning: 'Unversioned',
            objectLockEnabled: false,
          })
          await world.apply(allKeys.map(empty))
          for (const one of queries) assert.deepEqual(await pagedThrough(world, one), naive(allKeys, one))
          await world.apply([
            ...allKeys.map(
              (key) =>
                ({
                  type: 'deleteObject',
                  tenantId: 'acme',
                  bucket: 'photos',
                  key,
                  versionId: null,
                  ifMatch: null,
                }) as const,
            ),
            { type: 'deleteBucket', tenantId: 'acme', name: 'swap' },
          ])
        },
      ),
      { seed: 30, numRuns: 60 },
    )
    t.equal(world.photos.objectCount, 0)
  })

  t.test('begins strictly after a key, stored or not, and after all of a common prefix', async (t) => {
    const world = await StoreWorld.withBucket(t)
    await world.apply(['a', 'a/1', 'a/2', 'a0', 'b', 'b/x/1', 'c'].map(empty))
    const list = async (after: string, delimiter = '/', prefix = '') =>
      await pagedThrough(world, { prefix, delimiter, limit: 2, after })
    t.same(await list('a'), ['prefix a/', 'object a0', 'object b', 'prefix b/', 'object c'])
    t.same(await list('a/'), ['object a0', 'object b', 'prefix b/', 'object c'])
    // The line of the prefix sorts before the text.
    t.same(await list('a/1'), ['object a0', 'object b', 'prefix b/', 'object c'])
    t.same(await list('a/1', ''), ['object a/2', 'object a0', 'object b', 'object b/x/1', 'object c'])
    t.same(await list('aa'), ['object b', 'prefix b/', 'object c'])
    t.same(await list('zz'), [])
    t.same(
      await list('a', '/', 'b'),
      ['object b', 'prefix b/'],
      'a bound before the prefix does not widen it',
    )
    t.same(await list('c', '/', 'b'), [], 'a bound behind the prefix ends it')
    t.same(await list('b/', '/', 'b/'), ['prefix b/x/'])
  })

  t.test(
    'keeps hostile keys verbatim: dots, slashes, controls, 1,024 bytes, beyond the basic plane',
    async (t) => {
      const world = await StoreWorld.withBucket(t)
      const hostile = [
        '..',
        '../..',
        '/',
        '//',
        './',
        '\u0001',
        '\u007f',
        ' ',
        'a'.repeat(1024),
        '😀'.repeat(256),
        '\ufffd',
      ]
      await world.apply(hostile.map(empty))
      for (const key of hostile)
        t.equal(world.store.reader.get(versionKeys.object(world.photos.id, key))?.key, key)
      const query = { prefix: '', delimiter: '', limit: 1000, after: '' }
      t.same(
        (await pageOfObjects(world.store.reader, world.photos.id, query)).objects.map(({ key }) => key),
        [...hostile].sort(byBytes),
      )
    },
  )

  t.test('steps over what lies below a common prefix instead of reading it', async (t) => {
    const world = await StoreWorld.withBucket(t)
    const folders = ['a', 'b', 'c']
    await world.apply(
      folders.flatMap((folder) => Array.from({ length: 2000 }, (_, i) => empty(`${folder}/${i}`))),
    )
    const { db } = world.store.stateMachine.handle.current
    const results = t.capture(levelOf(db), 'iterator', levelOf(db).iterator.bind(db))
    const page = await pageOfObjects(world.store.reader, world.photos.id, {
      prefix: '',
      delimiter: '/',
      limit: 1000,
      after: '',
    })
    t.same(page, { objects: [], commonPrefixes: ['a/', 'b/', 'c/'], next: null })
    const [opened] = results()
    assert(opened !== undefined && 'returned' in opened)
    t.equal(opened.returned.count, 64 + folders.length - 1, 'one read ahead, then one row for each')
  })

  t.test('of one bucket never shows another, nor bodies and manifests', async (t) => {
    const world = await StoreWorld.withBucket(t)
    await world.do({
      type: 'createBucket',
      tenantId: 'acme',
      name: 'films',
      bucketsMax: 10,
      versioning: 'Unversioned',
      objectLockEnabled: false,
    })
    await world.apply([putChunks('k', ['c1']), { ...putChunks('f', ['c2']), bucket: 'films' }])
    await world.do(put('i', { kind: 'inline', chunkId: 'c', sealed: Buffer.of(1) }, 1))
    const query = { prefix: '', delimiter: '', limit: 1000, after: '' }
    const films = world.store.reader.get(bucketKeys.bucket('acme', 'films')) as BucketRecord
    t.same(
      (await pageOfObjects(world.store.reader, films.id, query)).objects.map(({ key }) => key),
      ['f'],
    )
    t.same(
      (await pageOfObjects(world.store.reader, world.photos.id, query)).objects.map(({ key }) => key),
      ['i', 'k'],
    )
  })
  t.end()
})

t.test('pages', (t) => {
  t.test('of tenants, keys, tokens and buckets are bounded, ordered and complete', async (t) => {
    const world = await StoreWorld.withBucket(t)
    const { reader } = world.store
    await world.apply(
      ['beta', 'gamma'].flatMap(
        (id) =>
          [
            createTenant(id),
            {
              type: 'createAccessKey',
              accessKeyId: `AK-${id}`,
              tenantId: 'acme',
              accountId: null,
              name: null,
              scopes: '',
              secret: Buffer.of(1),
              expiresAt: null,
            },
            {
              type: 'createAdminToken',
              tokenId: `T-${id}`,
              name: id,
              role: 'viewer',
              tenantId: null,
              expiresAt: null,
              sha256: `hash-${id}`,
            },
            {
              type: 'createBucket',
              tenantId: 'acme',
              name: `p-${id}`,
              bucketsMax: 10,
              versioning: 'Unversioned',
              objectLockEnabled: false,
            },
          ] as const,
      ),
    )
    const first = await reader.page(tenantRanges.tenants(), { limit: 2 })
    t.same([first.items.map(({ id }) => id), first.next], [['acme', 'beta'], 'beta'])
    const rest = await reader.page(tenantRanges.tenants(), { after: 'beta', limit: 2 })
    t.same([rest.items.map(({ id }) => id), rest.next], [['gamma'], null])
    const accessKeys = await pageOfAccessKeys(reader, 'acme', { limit: 1 })
    t.same([accessKeys.items.map((one) => one.accessKeyId), accessKeys.next], [['AK-beta'], 'AK-beta'])
    t.same((await pageOfAccessKeys(reader, 'beta', { limit: 9 })).items, [])
    t.same(
      (await reader.page(tenantRanges.adminTokens(), { after: 'T-beta', limit: 9 })).items.map(
        (one) => one.tokenId,
      ),
      ['T-gamma'],
    )
    t.equal(adminTokenByHash(reader, 'hash-beta')?.tokenId, 'T-beta')
    t.equal(adminTokenByHash(reader, 'hash-unknown'), undefined)
    t.same(
      (await reader.page(bucketRanges.buckets('acme'), { prefix: 'p-', limit: 9 })).items.map(
        ({ name }) => name,
      ),
      ['p-beta', 'p-gamma'],
    )
    t.same(
      (
        await reader.page(bucketRanges.buckets('acme'), { prefix: 'p-', after: 'p-beta', limit: 9 })
      ).items.map(({ name }) => name),
      ['p-gamma'],
    )
    t.same((await reader.page(bucketRanges.buckets('acme'), { limit: 9 })).items.length, 3)
    t.equal(reader.get(tenantKeys.clusterKey()), undefined)
  })
  t.end()
})

t.test('manifest', (t) => {
  t.test('gives any stretch of links over page borders, and fewer at the end', async (t) => {
    const world = await StoreWorld.withBucket(t)
    const ids = Array.from({ length: 2100 }, (_, i) => `c${i}`)
    const { versionId } = (await world.do(putChunks('big', ids))).object
    const read = (first: number, count: number) =>
      manifestLinks(world.store.reader, { bucketId: world.photos.id, versionId }, first, count).map(
        ({ id }) => id,
      )
    for (const [first, count] of [
      [0, 1],
      [0, 1024],
      [1000, 100],
      [1023, 1024],
      [1024, 1024],
      [2048, 52],
      [2090, 100],
      [2100, 1],
      [5000, 3],
      [7, 0],
    ] as const) {
      t.same(read(first, count), ids.slice(first, first + count))
    }
    t.throws(() => read(0, 1025), 'reads are bounded')
    await world.do({
      type: 'deleteObject',
      tenantId: 'acme',
      bucket: 'photos',
      key: 'big',
      versionId: null,
      ifMatch: null,
    })
    t.same(read(4995, 10), ids.slice(4995, 5005), 'it stays whole for those who read it')
    const items = (await world.store.reader.page(bodyRanges.discarded(), { limit: 1 })).items
    const release = { type: 'releaseDue', upTo: world.index, items } as const
    t.same(await world.do(release), { released: 1 })
    t.equal(read(0, 10).length, 10, 'it is released from its end on')
    while ((await world.do(release)).released > 0);
    t.same(read(0, 10), [])
  })
  t.end()
})
