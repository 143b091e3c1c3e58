/** Markers that clients make up: whatever a listing begins behind, it shows the lines that sort behind it, once each. */
import assert from 'node:assert/strict'
import t from 'tap'
import fc from 'fast-check'
import { pageOfObjects } from '../../src/store/reads/object-listing.ts'
import { pageOfUploads } from '../../src/store/reads/upload-listing.ts'
import { pageOfVersions } from '../../src/store/reads/version-listing.ts'
import { put } from '../state-machine/map-world.ts'
import { createUpload } from '../state-machine/upload-commands.ts'
import { StoreWorld } from './store-world.ts'

const KEYS = [
  'a',
  'a/',
  'a/b',
  'a/b/c',
  'a//b',
  'a/\uffff',
  'ab',
  'b--x',
  'b--y--z',
  'b-',
  'c/d',
  '\ud7ff/x',
  '😀/y',
]
const byBytes = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b))

interface Asked {
  readonly prefix: string
  readonly delimiter: string
  readonly marker: string
  readonly limit: number
}

function naive({ prefix, delimiter, marker }: Asked): readonly string[] {
  const lines = new Set<string>()
  for (const key of KEYS.filter((one) => one.startsWith(prefix))) {
    const at = delimiter === '' ? -1 : key.indexOf(delimiter, prefix.length)
    lines.add(at < 0 ? key : key.slice(0, at + delimiter.length))
  }
  return [...lines].filter((line) => byBytes(line, marker) > 0).sort(byBytes)
}

interface Keyed {
  readonly key: string
}

/** All pages from the marker on. */
async function lines<M>(
  from: M,
  read: (marker: M) => Promise<{
    readonly items: readonly Keyed[]
    readonly commonPrefixes: readonly string[]
    readonly next: M | null
  }>,
): Promise<readonly string[]> {
  const shown: string[] = []
  for (let marker: M | null = from; marker !== null; ) {
    const { items, commonPrefixes, next } = await read(marker)
    shown.push(...[...items.map(({ key }) => key), ...commonPrefixes].sort(byBytes))
    marker = next
  }
  return shown
}

t.test('a listing begins behind any text, also one inside a common prefix', async (t) => {
  const world = await StoreWorld.withBucket(t)
  const { reader } = world.store
  const { id } = world.photos
  await world.apply(KEYS.map((key) => put(key, { kind: 'empty' }, 0)))
  for (const key of KEYS) await world.do(createUpload(key))
  const text = fc.oneof(
    fc.constant(''),
    fc.constantFrom(...KEYS),
    fc.constantFrom('a/a', 'a/z', 'b--', 'b--a', 'b--y--', 'c', 'c/', 'zzz', '\ud7ff/', '😀/z'),
  )
  const asked = fc.record({
    prefix: fc.oneof(fc.constant(''), fc.constantFrom('a', 'a/', 'b-', 'b--', '😀')),
    delimiter: fc.constantFrom('', '/', '--', '-', 'b'),
    marker: text,
    limit: fc.integer({ min: 1, max: 5 }),
  })
  await fc.assert(
    fc.asyncProperty(asked, async (one) => {
      const { marker, ...query } = one
      const expected = naive(one)
      assert.deepEqual(
        await lines(marker, async (after) => {
          const { objects, ...page } = await pageOfObjects(reader, id, { ...query, after })
          return { items: objects, ...page }
        }),
        expected,
        'objects',
      )
      assert.deepEqual(
        await lines({ keyMarker: marker, versionIdMarker: '' }, async (from) => {
          const { versions, ...page } = await pageOfVersions(reader, id, { ...query, ...from })
          return { items: versions, ...page }
        }),
        expected,
        'versions',
      )
      assert.deepEqual(
        await lines({ keyMarker: marker, uploadIdMarker: '' }, async (from) => {
          const { uploads, ...page } = await pageOfUploads(reader, id, { ...query, ...from })
          return { items: uploads, ...page }
        }),
        expected,
        'uploads',
      )
    }),
    { seed: 43, numRuns: 300 },
  )
})

t.test('an upload id without a key says nothing, and one of a folded key neither', async (t) => {
  const world = await StoreWorld.withBucket(t)
  const { reader } = world.store
  const started = []
  for (const key of ['a/x', 'a/x', 'b', 'b']) started.push(await world.do(createUpload(key)))
  const from = async (keyMarker: string, uploadIdMarker: string, delimiter: string) => {
    const query = { prefix: '', delimiter, limit: 10, keyMarker, uploadIdMarker }
    const { uploads, commonPrefixes } = await pageOfUploads(reader, world.photos.id, query)
    return [...commonPrefixes, ...uploads.map(({ uploadId }) => uploadId)]
  }
  const [one = '', two = '', three = '', four = ''] = started.map(({ uploadId }) => uploadId)
  t.same(await from('', three, '/'), ['a/', three, four])
  t.same(await from('a/x', one, ''), [two, three, four], 'behind one upload of a key')
  t.same(await from('a/x', one, '/'), [three, four], 'its line was shown')
  t.same(await from('b', three, '/'), [four])
})
