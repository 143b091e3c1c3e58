/** Listings with a delimiter over folders of all sizes: what they show, and how many rows they read for it. */
import assert from 'node:assert/strict'
import t from 'tap'
import fc from 'fast-check'
import type { ListObjectsQuery } from '../../src/store/reads/object-listing.ts'
import type { ListVersionsQuery, VersionMarker } from '../../src/store/reads/version-listing.ts'
import { put } from '../state-machine/map-world.ts'
import { StoreWorld } from './store-world.ts'
import { pageOfObjects } from '../../src/store/reads/object-listing.ts'
import { pageOfVersions } from '../../src/store/reads/version-listing.ts'

const KEYS_MAX = 2500
const COMMANDS_PER_ENTRY = 500
/** As read-pace.test.ts proves it of the pace. */
const rowsAllowed = (lines: number): number => 64 + 84 * lines

/** So many folders of one size after each other; of size 0: keys that are in no folder. */
interface Stretch {
  readonly folders: number
  readonly size: number
}

const stretch = fc.record({
  folders: fc.integer({ min: 1, max: 40 }),
  size: fc.constantFrom(0, 1, 1, 2, 3, 15, 17, 70, 150),
})
/** Huge, then tiny for longer than a walk seeks before it tries to read on, then huge again. */
const everyTurn: readonly Stretch[] = [
  { folders: 3, size: 150 },
  { folders: 60, size: 1 },
  { folders: 30, size: 0 },
  { folders: 20, size: 30 },
  { folders: 4, size: 100 },
]

function keysOf(run: number, stretches: readonly Stretch[]): string[] {
  let folder = 0
  const keys = stretches.flatMap(({ folders, size }) =>
    Array.from({ length: folders }, () => {
      const name = `${run}:${(folder++).toString().padStart(4, '0')}`
      return size === 0 ? [name] : Array.from({ length: size }, (_, n) => `${name}/${n + 1000}`)
    }).flat(),
  )
  return keys.slice(0, KEYS_MAX)
}

const lineOf = (key: string): string => (key.includes('/') ? key.slice(0, key.indexOf('/') + 1) : key)

/** Puts each key, and every seventh again. */
async function fill(world: StoreWorld, keys: readonly string[]): Promise<void> {
  const again = keys.filter((_, n) => n % 7 === 0)
  const commands = [...keys, ...again].map((key) => put(key, { kind: 'empty' }, 0))
  for (let n = 0; n < commands.length; n += COMMANDS_PER_ENTRY)
    await world.apply(commands.slice(n, n + COMMANDS_PER_ENTRY))
}

/** How many rows each iterator gave that `work` opened. */
async function rowsRead(world: StoreWorld, work: () => Promise<void>): Promise<readonly number[]> {
  const { db } = world.store.stateMachine.handle.current
  const opened = t.capture(db, 'iterator', db.iterator.bind(db))
  await work()
  const counts = opened().map((one) => ('returned' in one ? one.returned.count : Number.NaN))
  opened.restore()
  return counts
}

async function walkObjects(world: StoreWorld, query: Omit<ListObjectsQuery, 'after'>): Promise<string[]> {
  const lines: string[] = []
  for (let after: string | null = ''; after !== null; ) {
    const from: string = after
    const counts = await rowsRead(world, async () => {
      const page = await pageOfObjects(world.store.reader, world.photos.id, { ...query, after: from })
      lines.push(...[...page.objects.map(({ key }) => key), ...page.commonPrefixes].sort())
      after = page.next
    })
    for (const count of counts) assert.ok(count <= rowsAllowed(query.limit + 1), `${count} rows`)
  }
  return lines
}

async function walkVersions(
  world: StoreWorld,
  query: Omit<ListVersionsQuery, keyof VersionMarker>,
): Promise<string[]> {
  const lines: string[] = []
  for (let marker: VersionMarker | null = { keyMarker: '', versionIdMarker: '' }; marker !== null; ) {
    const from: VersionMarker = marker
    const counts = await rowsRead(world, async () => {
      const page = await pageOfVersions(world.store.reader, world.photos.id, { ...query, ...from })
      lines.push(...[...page.versions.map(({ key }) => key), ...page.commonPrefixes].sort())
      marker = page.next
    })
    for (const count of counts) assert.ok(count <= rowsAllowed(query.limit + 1), `${count} rows`)
  }
  return lines
}

t.test('folders of any sizes are each shown once, and a page reads rows by its lines', async (t) => {
  const world = await StoreWorld.withBucket(t)
  const versioning = 'Enabled'
  await world.do({ type: 'setBucketVersioning', tenantId: 'acme', name: 'photos', versioning })
  let run = 0
  const check = async (stretches: readonly Stretch[], limit: number): Promise<void> => {
    run++
    const keys = keysOf(run, stretches)
    await fill(world, keys)
    const query = { prefix: `${run}:`, delimiter: '/', limit }
    const shown = [...new Set(keys.map(lineOf))]
    assert.deepEqual(await walkObjects(world, query), shown)
    const versions = keys.flatMap((key, n) => (n % 7 === 0 ? [key, key] : [key])).map(lineOf)
    const isShown = (line: string, n: number) => !line.endsWith('/') || versions.indexOf(line) === n
    assert.deepEqual(await walkVersions(world, query), versions.filter(isShown))
  }
  for (const limit of [1000, 40, 7]) await check(everyTurn, limit)
  await fc.assert(
    fc.asyncProperty(
      fc.array(stretch, { minLength: 1, maxLength: 6 }),
      fc.constantFrom(3, 30, 100, 1000),
      check,
    ),
    { seed: 52, numRuns: 8 },
  )
})

t.test('folders of one key cost a row each', async (t) => {
  const world = await StoreWorld.withBucket(t)
  await fill(
    world,
    Array.from({ length: 1000 }, (_, n) => `${n}/x`),
  )
  const query = { prefix: '', delimiter: '/', limit: 1000, after: '' }
  const counts = await rowsRead(world, async () => {
    t.equal((await pageOfObjects(world.store.reader, world.photos.id, query)).commonPrefixes.length, 1000)
  })
  t.same(counts, [1000])
})

t.test('a row that an index shows twice, or too late, is damage and not a line', async (t) => {
  for (const delimiter of ['', '/']) {
    const world = await StoreWorld.withBucket(t)
    await fill(world, ['a/1', 'b/1', 'c/1'])
    const { db } = world.store.stateMachine.handle.current
    const iterate = db.iterator.bind(db)
    t.intercept(db, 'iterator', {
      value: (...options: Parameters<typeof iterate>) => {
        const iterator = iterate(...options)
        const nextv = iterator.nextv.bind(iterator)
        iterator.nextv = async (size: number) => {
          const rows = await nextv(size)
          return [...rows, ...rows.slice(1, 2)]
        }
        return iterator
      },
    })
    const query = { prefix: '', delimiter, limit: 10, after: '' }
    await t.rejects(pageOfObjects(world.store.reader, world.photos.id, query), {
      cause: { message: /do not ascend/ },
    })
  }
})
