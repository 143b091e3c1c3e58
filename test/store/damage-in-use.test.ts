/**
 * Damage that is found while the state is in use: where it is reported, what becomes of reads and batches, and how another state ends it.
 *
 * Rule: no read ever returns bytes that were not written, and after an install all reads continue in the same process.
 */
import assert from 'node:assert/strict'
import { closeSync, cpSync, openSync, readdirSync, readSync, statSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { versionKeys } from '../../src/state-machine/versions/keys.ts'
import { bodyKeys, bodyRanges } from '../../src/state-machine/bodies/keys.ts'
import { Condition, type StateDamagedError } from '../../cluster/index.ts'
import type { BucketRecord } from '../../src/state-machine/buckets/records.ts'
import { openStore, type Store } from '../../src/store/open-store.ts'
import { keyBytes, RowDamagedError } from '../../src/store/rows/row-codec.ts'
import { SILENT } from '../helpers/loggers.ts'
import { seeded } from '../helpers/node-world.ts'
import { put } from '../state-machine/map-world.ts'
import {
  blocksOf,
  indexIn,
  StoreWorld,
  type Teardown,
  temporaryDirectory,
  failingBatch,
} from './store-world.ts'
import { pageOfObjects } from '../../src/store/reads/object-listing.ts'
import { recountState } from '../../src/store/reads/recount-state.ts'
import { repairTasks } from '../../src/store/reads/chunk-reads.ts'
import { tenantKeys, tenantRanges } from '../../src/state-machine/tenants/keys.ts'
import { putRow } from '../helpers/database-rows.ts'
import { testMetadataKey } from '../helpers/sealed-metadata.ts'

const SEED = Number(process.env['DAMAGE_SEED'] ?? 5)
const FLIPS = Number(process.env['DAMAGE_FLIPS'] ?? 40)
const OBJECTS = 80

const empty = (key: string) => put(key, { kind: 'empty' }, 0)
const inline = (key: string) =>
  put(key, { kind: 'inline', chunkId: `c-${key}`, sealed: Buffer.alloc(700, `body of ${key}`) }, 700)
const nameOf = (i: number): string => `k${String(i).padStart(3, '0')}`
const everything = { prefix: '', delimiter: '', limit: 1000, after: '' }
const folded = { ...everything, delimiter: '/', prefix: 'd' }

/** The objects `b` and `dir/x` are damaged. */
async function damagedWorld(t: Teardown): Promise<StoreWorld> {
  const world = await StoreWorld.withBucket(t)
  await world.apply(['a', 'b', 'c', 'dir/x'].map(empty))
  for (const name of ['b', 'dir/x'])
    await damageRow(world, keyBytes(versionKeys.object(world.photos.id, name)))
  return world
}

async function damageRow({ store }: StoreWorld, key: Buffer): Promise<void> {
  const { db } = store.stateMachine.handle.current
  const value = db.getSync(key)
  assert(value !== undefined)
  value[value.length - 1] = (value.at(-1) ?? 0) ^ 1
  await putRow(db, key, value)
}

function sumOf({ stateMachine }: Store): string {
  return Buffer.from(stateMachine.checksum()).toString('hex')
}

t.test('damage that is found in use', (t) => {
  t.test('of a row fails every read that finds it, and from then on all others', async (t) => {
    const replaced = { name: 'Condition', code: 'leader_not_ready', message: /is being replaced/ }
    const met = { ...replaced, cause: { name: 'RowDamagedError' } }
    const reads: Record<string, (reader: Store['reader'], photos: BucketRecord) => unknown> = {
      'a row': (reader, photos) => reader.get(versionKeys.object(photos.id, 'b')),
      'a page': (reader, photos) => pageOfObjects(reader, photos.id, everything),
      'where it is folded away': (reader, photos) => pageOfObjects(reader, photos.id, folded),
      'a recount': (reader) => recountState(reader, () => true),
    }
    for (const [what, read] of Object.entries(reads)) {
      const world = await damagedWorld(t)
      const { photos } = world
      const { reader } = world.store
      t.equal(reader.get(versionKeys.object(photos.id, 'a'))?.key, 'a', 'no read has found it yet')
      await t.rejects(async () => await read(reader, photos), met, what)
      t.throws(() => reader.get(versionKeys.object(photos.id, 'a')), replaced)
      await t.rejects(reader.page(tenantRanges.tenants(), { limit: 10 }), replaced)
      t.same(
        repairTasks(reader, 'n1', 10),
        [],
        'the repair engine, which asks at any time, finds nothing to do',
      )
    }
  })

  t.test(
    'that any read finds is reported once, ends the state, and is a fault at the next start',
    async (t) => {
      const meet: Record<string, (world: StoreWorld) => Promise<unknown>> = {
        'a read': async ({ store, photos }) => store.reader.get(versionKeys.object(photos.id, 'b')),
        'a page': async ({ store, photos }) => await pageOfObjects(store.reader, photos.id, everything),
        'a command': async (world) => await world.do(empty('b')),
        'a block of a snapshot': async ({ store }) => await blocksOf(await store.stateMachine.snapshot()),
      }
      for (const [what, met] of Object.entries(meet)) {
        const world = await damagedWorld(t)
        const { stateMachine } = world.store
        await t.rejects(met(world), what)
        t.strictSame(
          world.damages.map(({ name }) => name),
          ['RowDamagedError'],
          what,
        )
        await t.rejects(world.do(empty('z')), RowDamagedError, 'nothing is applied after it')
        t.throws(() => stateMachine.checksum(), RowDamagedError)
        await stateMachine.close()
        t.equal(world.damages.length, 1)
        const after = openStore({ dir: world.dir, logger: SILENT, metadataKey: testMetadataKey() })
        t.match(await after.stateMachine.open(), { record: null, fault: /checksum does not agree/ }, what)
        t.throws(
          () => after.reader.get(tenantKeys.tenant('acme')),
          { code: 'leader_not_ready' },
          'and nothing is read',
        )
        t.same(repairTasks(after.reader, 'n1', 10), [])
        await after.stateMachine.close()
      }
    },
  )

  t.test('of a row that a command replaces unseen is met by the command', async (t) => {
    const world = await StoreWorld.withBucket(t)
    await world.do(put('k', { kind: 'inline', chunkId: 'ci', sealed: Uint8Array.of(1, 2, 3) }, 3))
    const { stateMachine, reader } = world.store
    const { db } = stateMachine.handle.current
    const { versionId } =
      reader.get(versionKeys.object(world.photos.id, 'k')) ?? assert.fail('there is an object')
    const key = keyBytes(bodyKeys.inlineBody(world.photos.id, versionId))
    const value = db.getSync(key) ?? assert.fail('it has a body')
    value[value.length - 1] = (value.at(-1) ?? 0) ^ 1
    await putRow(db, key, value)
    await world.do(empty('k'))
    const items = (await reader.page(bodyRanges.discarded(), { limit: 1 })).items
    await t.rejects(world.do({ type: 'releaseDue', upTo: world.index, items }), RowDamagedError)
    t.match(world.damages, [{ name: 'RowDamagedError' }])
  })

  t.test('that verify finds is reported like any other', async (t) => {
    const { store, damages } = await damagedWorld(t)
    t.match(await store.stateMachine.verify(), /checksum does not agree/)
    t.match(damages, [{ name: 'StateDamagedError' }])
  })

  t.test('by a write, in what LevelDB reads for it, is damage and no failure of the disk', async (t) => {
    const world = await StoreWorld.withBucket(t)
    const { db } = world.store.stateMachine.handle.current
    const corruption = Object.assign(new Error('Corruption: block checksum mismatch'), {
      code: 'LEVEL_CORRUPTION',
    })
    t.intercept(db, 'batch', { value: () => failingBatch(corruption) })
    await t.rejects(world.do(empty('a')), { name: 'StateDamagedError', cause: corruption })
    t.match(world.damages, [{ name: 'StateDamagedError' }])
    const other = await StoreWorld.withBucket(t)
    await world.store.stateMachine.install(await cutOf(other))
    await world.do(empty('a'))
    t.equal(world.store.reader.get(versionKeys.object(world.photos.id, 'a'))?.key, 'a')
  })

  t.test('ends with another state, for readers that keep no state, in the same process', async (t) => {
    const [world, other] = [await damagedWorld(t), await StoreWorld.withBucket(t)]
    await other.apply(['a', 'b', 'c', 'dir/x'].map(empty))
    const { stateMachine, reader } = world.store
    const { photos } = world
    t.throws(() => reader.get(versionKeys.object(photos.id, 'b')), { code: 'leader_not_ready' })
    await stateMachine.quarantine('as the node does')
    t.equal(indexIn(await stateMachine.install(await cutOf(other))), other.index)
    t.equal(reader.get(versionKeys.object(photos.id, 'b'))?.key, 'b')
    t.equal(sumOf(world.store), sumOf(other.store))
    await Promise.all([world.do(empty('z')), other.do(empty('z'))])
    t.equal(sumOf(world.store), sumOf(other.store))
    t.equal(await stateMachine.verify(), null)
    t.strictSame(
      readdirSync(world.dir).filter((name) => /state-|DISTRUSTED/.test(name)),
      ['state-2'],
      'the old one and its mark are gone',
    )
    await stateMachine.close()
    t.equal((await StoreWorld.open(t, world.dir)).index, other.index, 'and the stop was a clean one')
  })
  t.end()
})

function cutOf({ store }: StoreWorld) {
  return store.stateMachine.snapshot()
}

t.test('a bit that flips under an open state', async (t) => {
  const source = await StoreWorld.withBucket(t)
  const names = Array.from({ length: OBJECTS }, (_, i) => nameOf(i))
  for (let i = 0; i < OBJECTS; i += 10) await source.apply(names.slice(i, i + 10).map(inline))
  const { photos } = source
  const truth = new Map(
    names.map((name) => [name, JSON.stringify(source.store.reader.get(versionKeys.object(photos.id, name)))]),
  )
  const template = temporaryDirectory(t)
  const random = seeded(SEED)
  const counts = { 'met by a reader': 0, 'met by verify': 0, 'hidden until verify': 0, 'not found': 0 }
  cpSync(source.dir, template, { recursive: true })
  for (let flip = 0; flip < FLIPS; flip++) {
    const dir = temporaryDirectory(t)
    cpSync(template, dir, { recursive: true })
    const damages: StateDamagedError[] = []
    const { stateMachine, reader } = openStore({ dir, logger: SILENT, metadataKey: testMetadataKey() })
    t.match(await stateMachine.open((error) => damages.push(error)), { fault: null })
    const what = flipInTable(join(dir, 'state-1'), random)
    const seen = new Set(names.map((name) => seenOf({ reader, photos, name }, truth)))
    const isMet = seen.has('damage')
    t.equal(damages.length, isMet ? 1 : 0, what)
    const fault = isMet ? null : await stateMachine.verify()
    // LevelDB checks no block that it reads: where the bit lies in a key, no row is found under it.
    const isHidden = !isMet && seen.has('nothing')
    if (isHidden) t.not(fault, null, `verify misses a row: ${what}`)
    const byVerify = isHidden ? 'hidden until verify' : 'met by verify'
    counts[isMet ? 'met by a reader' : fault === null ? 'not found' : byVerify] += 1
    if (isMet || fault !== null) {
      const cut = await cutOf(source)
      await stateMachine.install(cut)
      await cut.release()
    }
    t.ok(
      names.every((name) => seenOf({ reader, photos, name }, truth) === 'the truth'),
      `all is there again: ${what}`,
    )
    t.equal(sumOf({ stateMachine, reader }), sumOf(source.store))
    t.equal(await stateMachine.verify(), null)
    await stateMachine.close()
  }
  t.comment(`${FLIPS} flips: ${JSON.stringify(counts)}`)
  t.ok(counts['met by a reader'] + counts['met by verify'] > FLIPS / 2, JSON.stringify(counts))
})

/** Never bytes that were not written. */
function seenOf(
  { reader, photos, name }: { reader: Store['reader']; photos: BucketRecord; name: string },
  truth: ReadonlyMap<string, string>,
): 'the truth' | 'nothing' | 'damage' {
  try {
    const object = reader.get(versionKeys.object(photos.id, name))
    const body = object && reader.get(bodyKeys.inlineBody(photos.id, object.versionId))
    if (body === undefined) return 'nothing'
    assert.ok(JSON.stringify(object) === truth.get(name))
    assert.ok(Buffer.from(body.sealed).equals(Buffer.alloc(700, `body of ${name}`)))
    return 'the truth'
  } catch (error) {
    if (!(error instanceof Condition) || error.code !== 'leader_not_ready') throw error
    return 'damage'
  }
}

/** In place, among the rows: the index at the end of a table was read when LevelDB opened it. */
function flipInTable(state: string, random: () => number): string {
  const tables = readdirSync(state).filter((name) => name.endsWith('.ldb'))
  const name = tables[random() % tables.length]
  assert(name !== undefined, 'the start has made a table of what the log held')
  const path = join(state, name)
  const at = random() % Math.floor(statSync(path).size * 0.9)
  const bit = random() % 8
  const file = openSync(path, 'r+')
  try {
    const byte = new Uint8Array(1)
    readSync(file, byte, 0, 1, at)
    writeSync(file, Uint8Array.of((byte[0] ?? 0) ^ (1 << bit)), 0, 1, at)
  } finally {
    closeSync(file)
  }
  return `bit ${bit} of byte ${at} of ${name}`
}
