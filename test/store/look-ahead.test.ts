/** Pages of common prefixes that are read with several iterators at once: what they show, and how many reads they wait for one after another. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import t from 'tap'
import fc from 'fast-check'
import { put } from '../state-machine/map-world.ts'
import type { Command } from '../../src/state-machine/commands.ts'
import { StoreWorld } from './store-world.ts'
import { pageOfObjects } from '../../src/store/reads/object-listing.ts'
import { pageOfVersions } from '../../src/store/reads/version-listing.ts'
import { levelOf } from '../helpers/database-rows.ts'

const COMMANDS_PER_ENTRY = 500
/** More rows than are read instead of a seek. */
const LARGE_FOLDER = 30
const FOLDERS = 300

const numbered = (n: number): string => `${n + 1000}`
const hashed = (n: number): string => createHash('sha256').update(`${n}`).digest('hex').slice(0, 16)

interface Folder {
  readonly name: string
  /** 0: a key in no folder. */
  readonly size: number
}

const keysOf = ({ name, size }: Folder): string[] =>
  size === 0 ? [name] : Array.from({ length: size }, (_, n) => `${name}/${n + 100}`)

async function worldOf(folders: readonly Folder[]): Promise<StoreWorld> {
  const world = await StoreWorld.withBucket(t)
  await fill(world, folders.flatMap(keysOf))
  return world
}

async function fill(world: StoreWorld, keys: readonly string[]): Promise<void> {
  const commands = keys.map((key) => put(key, { kind: 'empty' }, 0))
  for (let n = 0; n < commands.length; n += COMMANDS_PER_ENTRY)
    await world.apply(commands.slice(n, n + COMMANDS_PER_ENTRY))
}

const removal = (key: string): Command => ({
  type: 'deleteObject',
  tenantId: 'acme',
  bucket: 'photos',
  key,
  versionId: null,
  ifMatch: null,
})

/** All pages, keys and common prefixes in the order of keys. */
async function objectLines(world: StoreWorld, prefix: string, limit: number): Promise<string[]> {
  const lines: string[] = []
  for (let after: string | null = ''; after !== null; ) {
    const query = { prefix, delimiter: '/', limit, after }
    const page = await pageOfObjects(world.store.reader, world.photos.id, query)
    lines.push(...[...page.objects.map(({ key }) => key), ...page.commonPrefixes].sort(byBytes))
    after = page.next
  }
  return lines
}

async function versionLines(world: StoreWorld, prefix: string): Promise<string[]> {
  const query = { prefix, delimiter: '/', limit: 1000, keyMarker: '', versionIdMarker: '' }
  const page = await pageOfVersions(world.store.reader, world.photos.id, query)
  return [...page.versions.map(({ key }) => key), ...page.commonPrefixes].sort(byBytes)
}

const byBytes = (one: string, other: string): number => Buffer.compare(Buffer.from(one), Buffer.from(other))

/** How many reads each iterator that `work` opens is asked for, in the order in which they are opened. `before`: is awaited before each read. */
async function readsOfIterators(
  world: StoreWorld,
  work: () => Promise<unknown>,
  before: (iterator: number, read: number) => Promise<void> = async () => undefined,
): Promise<readonly number[]> {
  const { db } = world.store.stateMachine.handle.current
  const reads: number[] = []
  const iterate = levelOf(db).iterator.bind(db)
  const counting = t.intercept(db, 'iterator', {
    value: (...options: Parameters<typeof iterate>) => {
      const iterator = iterate(...options)
      const nextv = iterator.nextv.bind(iterator)
      const at = reads.push(0) - 1
      iterator.nextv = async (size: number) => {
        const read = (reads[at] ?? 0) + 1
        reads[at] = read
        await before(at, read)
        return nextv(size)
      }
      return iterator
    },
  })
  await work()
  counting.restore()
  return reads
}

t.test('the first page over large folders reads through several iterators at once', async (t) => {
  for (const nameOf of [numbered, hashed]) {
    const names = Array.from({ length: FOLDERS }, (_, n) => nameOf(n)).sort()
    const world = await worldOf(names.map((name) => ({ name, size: LARGE_FOLDER })))
    const shown = names.map((name) => `${name}/`)
    const [walk = 0, ...ahead] = await readsOfIterators(world, async () => {
      assert.deepEqual(await objectLines(world, '', 1000), shown)
    })
    const all = ahead.reduce((sum, one) => sum + one, walk)
    t.ok(all <= 1.6 * FOLDERS, `${all} reads in all`)
    t.ok(walk + Math.max(0, ...ahead) <= FOLDERS / 3, `${walk}, at once ${ahead.join(' ')}`)
  }
})

t.test('a page is of one moment, though a write comes before it looks ahead', async (t) => {
  const folders = Array.from({ length: FOLDERS }, (_, n) => ({ name: numbered(n), size: LARGE_FOLDER }))
  const world = await worldOf(folders)
  const before = folders.map(({ name }) => `${name}/`)
  const removed = folders.filter((_, n) => n >= 20 && n % 10 === 0)
  let shown: readonly string[] = []
  const reads = await readsOfIterators(
    world,
    async () => {
      shown = await objectLines(world, '', 1000)
    },
    async (iterator, read) => {
      if (iterator > 0 || read !== 4) return
      await world.apply(removed.flatMap(keysOf).map(removal))
      await fill(world, ['1100a/new'])
    },
  )
  t.same(shown, before)
  t.ok(reads.length > 1, 'it looked ahead')
  const gone = new Set(removed.map(({ name }) => `${name}/`))
  const now = [...before.filter((line) => !gone.has(line)), '1100a/'].sort()
  t.same(await objectLines(world, '', 1000), now, 'what was found beside the write is not kept')
})

t.test('a row that cannot be read ahead does not fail a page', async (t) => {
  const folders = Array.from({ length: FOLDERS }, (_, n) => ({ name: numbered(n), size: LARGE_FOLDER }))
  const world = await worldOf(folders)
  const work = async () => {
    assert.deepEqual(
      await objectLines(world, '', 1000),
      folders.map(({ name }) => `${name}/`),
    )
  }
  const reads = await readsOfIterators(world, work, async (iterator) => {
    if (iterator === 2) throw new Error('unreadable')
  })
  t.ok(reads.length > 2)
})

const characters = ['0', '1', '9', 'a', 'z', '-', '\ud7ff', '\uffff', '\u{1f600}']
const folder = fc.record({
  name: fc.oneof(
    fc.string({ unit: fc.constantFrom(...characters), minLength: 1, maxLength: 5 }),
    fc.nat(2000).map(String),
  ),
  size: fc.constantFrom(LARGE_FOLDER, LARGE_FOLDER, LARGE_FOLDER, 2, 0),
})

t.test('a walk that looks ahead shows what is stored, whatever the names are', async (t) => {
  const world = await StoreWorld.withBucket(t)
  let run = 0
  const check = async (folders: readonly Folder[], limit: number): Promise<void> => {
    const prefix = `${run++}:`
    const named = folders.map(({ name, size }) => ({ name: prefix + name, size }))
    await fill(world, named.flatMap(keysOf))
    const lines = named.map(({ name, size }) => (size === 0 ? name : `${name}/`)).sort(byBytes)
    assert.deepEqual(await objectLines(world, prefix, limit), lines)
    assert.deepEqual(await versionLines(world, prefix), lines)
  }
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(folder, { minLength: 25, maxLength: 60, selector: ({ name }) => name, size: 'max' }),
      fc.constantFrom(30, 1000),
      check,
    ),
    { seed: 116, numRuns: 10 },
  )
})
