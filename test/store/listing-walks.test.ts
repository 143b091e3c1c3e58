/** Listings with a delimiter over folders of all sizes: what they show, and how many rows they read for it. */
import assert from 'node:assert/strict'
import t from 'tap'
import fc from 'fast-check'
import type { ListObjectsQuery } from '../../src/store/reads/object-listing.ts'
import type { ListVersionsQuery, VersionMarker } from '../../src/store/reads/version-listing.ts'
import { put } from '../state-machine/map-world.ts'
import type { Command } from '../../src/state-machine/commands.ts'
import { heldBatches, StoreWorld } from './store-world.ts'
import { pageOfObjects } from '../../src/store/reads/object-listing.ts'
import { pageOfVersions } from '../../src/store/reads/version-listing.ts'
import { levelOf } from '../helpers/database-rows.ts'

const KEYS_MAX = 2500
const COMMANDS_PER_ENTRY = 500
/** As read-pace.test.ts proves it of the pace. */
const rowsAllowed = (lines: number): number => 64 + 288 * lines

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
  const opened = t.capture(levelOf(db), 'iterator', levelOf(db).iterator.bind(db))
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

function removal(key: string): Command {
  return {
    type: 'deleteObject',
    tenantId: 'acme',
    bucket: 'photos',
    key,
    versionId: null,
    ifMatch: null,
  }
}

/** How many reads through the thread pool `work` asks for, and how many seeks. */
async function asked(world: StoreWorld, work: () => Promise<unknown>) {
  const { db } = world.store.stateMachine.handle.current
  const iterate = levelOf(db).iterator.bind(db)
  const counts = { reads: 0, seeks: 0 }
  let lastRead = 0
  const counting = t.intercept(db, 'iterator', {
    value: (...options: Parameters<typeof iterate>) => {
      const iterator = iterate(...options)
      const [nextv, seek] = [iterator.nextv.bind(iterator), iterator.seek.bind(iterator)]
      iterator.nextv = (size: number) => {
        counts.reads++
        lastRead = size
        return nextv(size)
      }
      iterator.seek = (target: Buffer) => {
        counts.seeks++
        seek(target)
      }
      return iterator
    },
  })
  await work()
  counting.restore()
  assert.ok(lastRead <= 64, 'the binding keeps what an iterator read last for long')
  return counts
}

t.test(
  'a page of common prefixes costs one read once they were shown, and a change costs its own',
  async (t) => {
    const world = await StoreWorld.withBucket(t)
    const keys = [...Array(40).keys()].flatMap((folder) =>
      [...Array(80).keys()].map((n) => `${folder + 100}/${n + 100}`),
    )
    await fill(world, keys)
    const { reader } = world.store
    const query = { prefix: '', delimiter: '/', limit: 1000 }
    const objects = () => pageOfObjects(reader, world.photos.id, { ...query, after: '' })
    const versions = () =>
      pageOfVersions(reader, world.photos.id, { ...query, keyMarker: '', versionIdMarker: '' })
    const first = await objects()
    t.equal(first.commonPrefixes.length, 40)
    // The last one: behind the last folder lies no row that could be known.
    t.same(await asked(world, objects), { reads: 2, seeks: 1 })
    t.same(await objects(), first)
    t.same(await asked(world, versions), { reads: 3, seeks: 1 }, 'both kinds of row, and one end')

    await world.apply([put('120/a', { kind: 'empty' }, 0)])
    t.same(await asked(world, objects), { reads: 2, seeks: 1 }, 'a key inside a folder')
    await world.apply([put('1205', { kind: 'empty' }, 0)])
    t.same(await asked(world, objects), { reads: 4, seeks: 2 }, 'a key between folders')
    t.same(
      (await objects()).objects.map(({ key }) => key),
      ['1205'],
    )
    await world.apply([removal('130/100')])
    t.same(await asked(world, objects), { reads: 5, seeks: 3 }, 'the first key of a folder')
    t.same((await objects()).commonPrefixes, first.commonPrefixes)
  },
)

t.test('an iterator that is closed keeps no page of rows', async (t) => {
  const world = await StoreWorld.withBucket(t)
  await fill(
    world,
    [...Array(400).keys()].map((n) => `${n + 1000}`),
  )
  const { reader } = world.store
  const query = { prefix: '', delimiter: '', limit: 300 }
  const objects = () => pageOfObjects(reader, world.photos.id, { ...query, after: '' })
  t.same(await asked(world, objects), { reads: 3, seeks: 1 }, 'two for the page, and one in their place')
})

const change = fc.record({
  folder: fc.integer({ min: 0, max: 9 }),
  key: fc.constantFrom('', '/1', '/1', '/2/1', '/2/2', '/3'),
  isRemoved: fc.constantFrom(true, true, false),
})

/** Before or after the write under way: LevelDB shows either. */
function isOneOf(page: unknown, moments: readonly unknown[]): void {
  assert.ok(
    moments.some((one) => JSON.stringify(one) === JSON.stringify(page)),
    JSON.stringify(page),
  )
}

t.test('pages show what is stored, with writes between them and beside them', async (t) => {
  const world = await StoreWorld.withBucket(t)
  const { db } = world.store.stateMachine.handle.current
  // More rows than are read at once, so that the walks step from folder to folder.
  const stored = new Set(
    [0, 2, 4, 6, 8].flatMap((folder) => [...Array(50).keys()].map((n) => `${folder}/9/${n}`)),
  )
  await fill(world, [...stored])
  const lines = (keys: Iterable<string>, prefix: string, delimiter: string): string[] => {
    const found = [...keys].filter((key) => key.startsWith(prefix)).sort()
    const line = (key: string): string => {
      const at = delimiter === '' ? -1 : key.indexOf(delimiter, prefix.length)
      return at < 0 ? key : key.slice(0, at + 1)
    }
    return [...new Set(found.map(line))]
  }
  const page = async (prefix: string, delimiter: string): Promise<string[]> => {
    const query = { prefix, delimiter, limit: 1000, after: '' }
    const { objects, commonPrefixes } = await pageOfObjects(world.store.reader, world.photos.id, query)
    return [...objects.map(({ key }) => key), ...commonPrefixes].sort()
  }
  const round = async (
    changes: readonly (typeof change extends fc.Arbitrary<infer C> ? C : never)[],
    prefix: string,
    delimiter: string,
  ): Promise<void> => {
    const before = lines(stored, prefix, delimiter)
    const commands = changes.map(({ folder, key, isRemoved }) => {
      const name = `${folder}${key}`
      if (isRemoved) stored.delete(name)
      else stored.add(name)
      return isRemoved ? removal(name) : put(name, { kind: 'empty' }, 0)
    })
    const after = lines(stored, prefix, delimiter)
    const beside: Promise<string[]>[] = []
    const batch = t.intercept(db, 'batch', {
      value: heldBatches(db, async (write) => {
        beside.push(page(prefix, delimiter))
        const written = write()
        beside.push(page(prefix, delimiter))
        await written
        beside.push(page(prefix, delimiter))
      }),
    })
    beside.push(page(prefix, delimiter))
    await world.apply(commands)
    batch.restore()
    for (const one of beside) isOneOf(await one, [before, after])
    assert.deepEqual(await page(prefix, delimiter), after)
    assert.deepEqual(await page(prefix, delimiter), after)
    assert.deepEqual(await page('', '/'), lines(stored, '', '/'))
  }
  await fc.assert(
    fc.asyncProperty(
      fc.array(change, { minLength: 1, maxLength: 6 }),
      fc.constantFrom('', '', '', '1', '6/', '8/2/'),
      fc.constantFrom('/', '/', '/', '2', ''),
      round,
    ),
    { seed: 84, numRuns: 150, endOnFailure: true },
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
    const iterate = levelOf(db).iterator.bind(db)
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
