/** Listings of versions and uploads, page by page, against all rows at once. */
import assert from 'node:assert/strict'
import t from 'tap'
import fc from 'fast-check'
import { versionRanges, versionKeys } from '../../src/state-machine/versions/keys.ts'
import type { Command } from '../../src/state-machine/commands.ts'
import { type ListedVersion, listedVersion } from '../../src/state-machine/versions/listed-version.ts'
import type { VersionRecord } from '../../src/state-machine/versions/records.ts'
import { decodeRow, keyBytes } from '../../src/store/rows/row-codec.ts'
import type { ListVersionsQuery, VersionMarker } from '../../src/store/reads/version-listing.ts'
import { put, remove } from '../state-machine/map-world.ts'
import { createUpload, putPart } from '../state-machine/upload-commands.ts'
import { StoreWorld } from './store-world.ts'
import { findPart } from '../../src/state-machine/bodies/upload-parts.ts'
import { lookUpVersion } from '../../src/store/reads/version-lookup.ts'
import { objectKeys } from '../../src/state-machine/objects/keys.ts'
import { pageOfParts } from '../../src/store/reads/part-listing.ts'
import { pageOfUploads } from '../../src/store/reads/upload-listing.ts'
import { pageOfVersions } from '../../src/store/reads/version-listing.ts'
import { quotaOf } from '../../src/state-machine/usage/quota.ts'

const BEGINNING: VersionMarker = { keyMarker: '', versionIdMarker: '' }
const byBytes = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b))
const lineOf = ({ key, versionId, isLatest }: ListedVersion): string =>
  `${key} ${versionId}${isLatest ? ' latest' : ''}`

const key = fc
  .array(fc.constantFrom('a', 'b', '/', '\u0001', '\ud7ff', '\uffff', '😀'), { minLength: 1, maxLength: 4 })
  .map((parts) => parts.join(''))

interface Change {
  readonly key: string
  readonly what: 'put' | 'mark' | 'removeNewest' | 'removeOldest' | 'suspend' | 'enable'
}

const WHAT = ['put', 'put', 'put', 'mark', 'removeNewest', 'removeOldest', 'suspend', 'enable'] as const
const changes = (keys: fc.Arbitrary<string>, maxLength: number) =>
  fc.array(fc.record({ key: keys, what: fc.constantFrom<Change['what']>(...WHAT) }), { maxLength })

async function change(world: StoreWorld, { key, what }: Change): Promise<void> {
  await world.apply([commandOf(await allVersions(world), key, what)])
}

function commandOf(all: readonly VersionRecord[], key: string, what: Change['what']): Command {
  if (what === 'put') return put(key, { kind: 'empty' }, 0)
  if (what === 'mark') return remove(key)
  if (what === 'suspend' || what === 'enable') {
    const versioning = what === 'suspend' ? 'Suspended' : 'Enabled'
    return { type: 'setBucketVersioning', tenantId: 'acme', name: 'photos', versioning }
  }
  const mine = all.filter((version) => version.key === key)
  const version = mine.at(what === 'removeNewest' ? 0 : -1)
  return remove(key, version?.isNull === true ? 'null' : (version?.versionId ?? 'none'))
}

/** In the order of a listing. */
async function allVersions(world: StoreWorld): Promise<VersionRecord[]> {
  const { handle } = world.store.stateMachine
  const found: VersionRecord[] = []
  for (const { start, end } of [
    versionRanges.objects(world.photos.id),
    versionRanges.versions(world.photos.id),
  ])
    for await (const [bytes, value] of handle.current.db.iterator({
      gte: keyBytes(start),
      lt: keyBytes(end),
    }))
      found.push(decodeRow<VersionRecord>(bytes.toString('utf8'), value))
  return found.sort((a, b) => byBytes(a.key, b.key) || byBytes(b.versionId, a.versionId))
}

/** What a listing over all of them shows. */
function naive(all: readonly VersionRecord[], { prefix, delimiter }: ListVersionsQuery): string[] {
  const lines = new Set<string>()
  for (const version of all.filter((one) => one.key.startsWith(prefix))) {
    const at = delimiter === '' ? -1 : version.key.indexOf(delimiter, prefix.length)
    lines.add(at < 0 ? lineOf(listedVersion(version)) : version.key.slice(0, at + delimiter.length))
  }
  return [...lines]
}

/** Lines of all pages; `between` them something may change. */
async function paged(
  world: StoreWorld,
  query: Omit<ListVersionsQuery, keyof VersionMarker>,
  between: () => Promise<void> = async () => undefined,
): Promise<string[]> {
  const lines: string[] = []
  for (let marker = BEGINNING; ; ) {
    const page = await pageOfVersions(world.store.reader, world.photos.id, { ...query, ...marker })
    const found = [
      ...page.versions.map((version) => ({ key: version.key, line: lineOf(version) })),
      ...page.commonPrefixes.map((prefix) => ({ key: prefix, line: prefix })),
    ].sort((a, b) => byBytes(a.key, b.key))
    assert.ok(found.length <= query.limit)
    lines.push(...found.map(({ line }) => line))
    if (page.next === null) return lines
    assert.equal(found.length, query.limit, 'a page before the last is full')
    marker = page.next
    await between()
  }
}

/** For a run of a property: closed explicitly, because there are many. */
async function openWorld(): Promise<{ readonly world: StoreWorld; readonly close: () => Promise<void> }> {
  const handlers: (() => void | Promise<void>)[] = []
  const world = await StoreWorld.withBucket({ teardown: (handler) => void handlers.unshift(handler) })
  await change(world, { key: 'a', what: 'enable' })
  return {
    world,
    close: async () => {
      for (const handler of handlers) await handler()
    },
  }
}

t.test('versions', async (t) => {
  t.test('pages of any size show what all rows show, with and without delimiter', async () => {
    const query = fc.record({
      prefix: fc.oneof(fc.constant(''), key),
      delimiter: fc.constantFrom('', '/', 'b', '\u0001'),
      limit: fc.integer({ min: 1, max: 7 }),
    })
    await fc.assert(
      fc.asyncProperty(
        changes(key, 25),
        fc.array(query, { minLength: 4, maxLength: 8 }),
        async (history, asked) => {
          const { world, close } = await openWorld()
          for (const one of history) await change(world, one)
          const all = await allVersions(world)
          for (const one of asked)
            assert.deepEqual(await paged(world, one), naive(all, { ...one, ...BEGINNING }))
          await close()
        },
      ),
      { seed: 41, numRuns: 30 },
    )
  })

  t.test('a version that exists all the time is shown once, for any changes between pages', async () => {
    const few = fc.constantFrom('a', 'a/b', 'a/c', 'b', 'c/d')
    await fc.assert(
      fc.asyncProperty(
        changes(few, 25),
        changes(few, 25),
        fc.integer({ min: 1, max: 3 }),
        fc.constantFrom('', '/'),
        async (before, during, limit, delimiter) => {
          const { world, close } = await openWorld()
          for (const one of before) await change(world, one)
          const stood = new Map((await allVersions(world)).map((version) => [version.versionId, version]))
          const left = [...during]
          const lines = await paged(world, { prefix: '', delimiter, limit }, async () => {
            for (const one of left.splice(0, 2)) await change(world, one)
            const there = new Set((await allVersions(world)).map(({ versionId }) => versionId))
            for (const id of stood.keys()) if (!there.has(id)) stood.delete(id)
          })
          const shown = lines.map((line) => line.replace(/ latest$/, ''))
          assert.equal(new Set(shown).size, shown.length, 'nothing is shown twice')
          for (const version of naive([...stood.values()], { prefix: '', delimiter, limit, ...BEGINNING }))
            assert.ok(shown.includes(version.replace(/ latest$/, '')), `${version} was missed`)
          await close()
        },
      ),
      { seed: 42, numRuns: 40 },
    )
  })

  t.test('a marker that clients make up: null, and ids of removed versions', async (t) => {
    const world = await StoreWorld.withBucket(t)
    for (const what of ['put', 'enable', 'put', 'put', 'suspend', 'put', 'enable', 'put'] as const)
      await change(world, { key: 'k', what })
    const all = await allVersions(world)
    t.same(
      all.map(({ isNull }) => isNull),
      [false, true, false, false],
    )
    const from = async (versionIdMarker: string, keyMarker = 'k') => {
      const query = { prefix: '', delimiter: '', limit: 10, keyMarker, versionIdMarker }
      return (await pageOfVersions(world.store.reader, world.photos.id, query)).versions
    }
    t.same(await from('null'), all.slice(2).map(listedVersion), 'behind the null version')
    t.same(await from(''), [], 'behind the key')
    t.same(await from('', 'j'), all.map(listedVersion))
    t.same(await from(all[0]?.versionId ?? ''), all.slice(1).map(listedVersion))
    t.same(await from('no id'), all.map(listedVersion), 'rather twice than never')
    await world.do(remove('k', 'null'))
    const idsFrom = async (marker: string) => (await from(marker)).map(({ versionId }) => versionId)
    const [first, second = '', third, fourth] = all.map(({ versionId }) => versionId)
    t.same(await idsFrom('null'), [first, third, fourth], 'there is none: all of the key')
    t.same(await idsFrom(second), [third, fourth], 'its own id says where it stood')
  })

  t.test('a version that became the newest between two pages is shown', async (t) => {
    const world = await StoreWorld.withBucket(t)
    for (const what of ['enable', 'put', 'put'] as const) await change(world, { key: 'k', what })
    const query = { prefix: '', delimiter: '', limit: 1 }
    const page = await pageOfVersions(world.store.reader, world.photos.id, { ...query, ...BEGINNING })
    await change(world, { key: 'k', what: 'removeNewest' })
    const next = await pageOfVersions(world.store.reader, world.photos.id, {
      ...query,
      ...(page.next ?? BEGINNING),
    })
    t.same(next.versions, (await allVersions(world)).map(listedVersion))
  })
})

t.test('uploads and parts', async (t) => {
  const world = await StoreWorld.withBucket(t)
  const { reader } = world.store
  for (const name of ['b', 'a', 'a/x', 'b', 'a', '😀', '\uffff', 'b']) await world.do(createUpload(name))
  const listed = async (prefix: string, limit: number) => {
    const lines: string[] = []
    for (let marker = { keyMarker: '', uploadIdMarker: '' }; ; ) {
      const query = { prefix, delimiter: '', limit, ...marker }
      const page = await pageOfUploads(reader, world.photos.id, query)
      lines.push(...page.uploads.map((upload) => `${upload.key} ${upload.uploadId}`))
      if (page.next === null) return lines
      marker = page.next
    }
  }
  const all = await listed('', 1000)
  t.same(
    all.map((line) => line.split(' ')[0]),
    ['a', 'a', 'a/x', 'b', 'b', 'b', '\uffff', '😀'],
  )
  for (const limit of [1, 2, 3, 7, 8]) {
    t.same(await listed('', limit), all)
    t.same(
      await listed('a', limit),
      all.filter((line) => line.startsWith('a')),
    )
  }
  const behind = { prefix: '', delimiter: '', limit: 10, keyMarker: 'a', uploadIdMarker: '' }
  t.same(
    (await pageOfUploads(reader, world.photos.id, behind)).uploads.length,
    6,
    'behind all uploads of a key',
  )

  const { uploadId } = await world.do(createUpload('k'))
  for (const partNumber of [10_000, 3, 300, 1])
    await world.do(putPart({ key: 'k', uploadId, partNumber }, [`c${partNumber}`]))
  const parts = await pageOfParts(reader, { bucketId: world.photos.id, uploadId }, { after: 0, limit: 3 })
  t.match(parts, { next: 300 })
  t.same(
    parts.parts.map(({ partNumber }) => partNumber),
    [1, 3, 300],
  )
  t.match(await pageOfParts(reader, { bucketId: world.photos.id, uploadId }, { after: 300, limit: 3 }), {
    parts: [{ partNumber: 10_000 }],
    next: null,
  })
  t.match(findPart(reader, { bucketId: world.photos.id, uploadId }, 3), { partNumber: 3 })
  t.equal(reader.get(objectKeys.upload(world.photos.id, 'other', uploadId)), undefined)
})

t.test('single versions by the names that clients use', async (t) => {
  const world = await StoreWorld.withBucket(t)
  const { reader } = world.store
  for (const what of ['put', 'enable', 'put', 'mark'] as const) await change(world, { key: 'k', what })
  const [marker, kept, nullVersion] = await allVersions(world)
  t.same(lookUpVersion(reader, world.photos, { key: 'k', versionId: null }), marker)
  t.equal(reader.get(versionKeys.object(world.photos.id, 'k')), undefined)
  t.same(lookUpVersion(reader, world.photos, { key: 'k', versionId: 'null' }), nullVersion)
  t.same(lookUpVersion(reader, world.photos, { key: 'k', versionId: kept?.versionId ?? '' }), kept)
  t.equal(
    lookUpVersion(reader, world.photos, { key: 'k', versionId: nullVersion?.versionId ?? '' }),
    undefined,
    'it is known as null',
  )
  for (const name of [
    '',
    'x',
    `${kept?.versionId}u`,
    `${kept?.versionId}\u0000`,
    kept?.versionId.toLowerCase() ?? '',
  ])
    t.equal(lookUpVersion(reader, world.photos, { key: 'k', versionId: name }), undefined)
  t.equal(lookUpVersion(reader, world.photos, { key: 'none', versionId: null }), undefined)
  t.same(quotaOf(reader, 'acme'), { maxBytes: null, maxObjects: null, maxBuckets: null, updatedAt: 0 })
})
