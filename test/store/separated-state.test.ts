/**
 * A state whose large values lie in value files: how it begins, what a start makes of it, and how it travels.
 *
 * Rule: everything above the files sees rows; a state with value files and one without have the same rows and the same sum.
 */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { SILENT } from '../helpers/loggers.ts'
import { bodyKeys } from '../../src/state-machine/bodies/keys.ts'
import { versionKeys } from '../../src/state-machine/versions/keys.ts'
import { openStore } from '../../src/store/open-store.ts'
import { exchange } from '../state-machine/key-exchange-samples.ts'
import { createTenant, OPEN_SESSION, put } from '../state-machine/map-world.ts'
import { copyOfOpen } from './open-copy.ts'
import { StoreWorld, temporaryDirectory } from './store-world.ts'
import { testMetadataKey } from '../helpers/sealed-metadata.ts'

const BYTES = 4_000
const inline = (key: string, text = key) =>
  put(key, { kind: 'inline', chunkId: `c-${text}`, sealed: Buffer.alloc(BYTES, `body of ${text}`) }, BYTES)

const createPhotos = {
  type: 'createBucket',
  tenantId: 'acme',
  name: 'photos',
  bucketsMax: 10,
  versioning: 'Unversioned',
  objectLockEnabled: false,
} as const

async function filled(t: Test, names: readonly string[]): Promise<StoreWorld> {
  const world = await StoreWorld.withBucket(t)
  for (const name of names) await world.do(inline(name))
  return world
}

function bodyOf({ store: { reader }, photos }: StoreWorld, key: string): string | undefined {
  const object = reader.get(versionKeys.object(photos.id, key))
  const row = object && reader.get(bodyKeys.inlineBody(photos.id, object.versionId))
  return row && Buffer.from(row.sealed).toString('latin1')
}

const textOf = (name: string): string => Buffer.alloc(BYTES, `body of ${name}`).toString('latin1')
const sumOf = ({ store }: StoreWorld): string => Buffer.from(store.stateMachine.checksum()).toString('hex')

function valuesIn(dir: string): string {
  const state = readdirSync(dir).find((name) => name.startsWith('state-'))
  assert(state !== undefined)
  return join(dir, state, 'values')
}

function newestIn(dir: string): string {
  const name = readdirSync(valuesIn(dir)).toSorted().at(-1)
  assert(name !== undefined)
  return join(valuesIn(dir), name)
}

function flip(path: string, at: number): void {
  const bytes = readFileSync(path)
  bytes[at] = (bytes[at] ?? 0) ^ 1
  writeFileSync(path, bytes)
}

const formatOf = (dir: string): string | undefined =>
  /"format":(\d+)/.exec(readFileSync(join(dir, 'CURRENT'), 'utf8'))?.[1]

t.test('a state', async (t) => {
  t.test('keeps values in LevelDB until every node knows value files, and reads both', async (t) => {
    const world = await StoreWorld.open(t)
    world.featureLevel = 3
    await world.apply([createTenant('acme'), createPhotos, OPEN_SESSION])
    await world.do(inline('old'))
    t.equal(formatOf(world.dir), '5', 'a build that knows no value files may still open it')
    t.throws(() => readdirSync(valuesIn(world.dir)), { code: 'ENOENT' })
    world.featureLevel = 4
    await world.do(inline('new'))
    t.equal(formatOf(world.dir), '6')
    t.match(readFileSync(newestIn(world.dir), 'latin1'), textOf('new'))
    t.notMatch(readFileSync(newestIn(world.dir), 'latin1'), textOf('old'))
    await world.store.stateMachine.close()
    const after = await StoreWorld.open(t, world.dir)
    for (const name of ['old', 'new']) t.equal(bodyOf(after, name), textOf(name))
    t.equal(await after.store.stateMachine.verify(), null)
  })

  t.test('has the same rows with value files and without, wherever it travels', async (t) => {
    const names = ['a', 'b', 'c', 'd']
    const world = await filled(t, names)
    await world.do(inline('b', 'another b'))
    const cut = await world.store.stateMachine.snapshot()
    const [plain, separated] = [await StoreWorld.open(t), await filled(t, ['x'])]
    for (const other of [plain, separated]) {
      await other.store.stateMachine.install(cut)
      other.index = world.index
      t.equal(sumOf(other), sumOf(world))
      t.equal(bodyOf(other, 'b'), textOf('another b'))
      t.equal(await other.store.stateMachine.verify(), null)
    }
    await cut.release()
    t.throws(() => readdirSync(valuesIn(plain.dir)), { code: 'ENOENT' })
    t.match(readFileSync(newestIn(separated.dir), 'latin1'), textOf('a'))
    for (const other of [world, plain, separated]) await other.do(inline('c', 'another c'))
    for (const other of [plain, separated]) t.equal(sumOf(other), sumOf(world))
    await separated.store.stateMachine.close()
    const after = await StoreWorld.open(t, separated.dir)
    for (const name of ['a', 'd']) t.equal(bodyOf(after, name), textOf(name))
  })

  t.test('gives the value of a body back when it is sealed again', async (t) => {
    const world = await filled(t, ['a', 'b'])
    const { files } = world.store.stateMachine.handle.current.db.rows
    const { liveBytes } = files.sizes
    await world.do(exchange('op1'))
    const { id: bucketId } = world.photos
    const bodyId = world.store.reader.get(versionKeys.object(bucketId, 'a'))?.versionId ?? ''
    const sealed = new Uint8Array(BYTES).fill(9)
    await world.do({
      type: 'resealBodies',
      tenantId: 'acme',
      operation: 'op1',
      keyVersion: 2,
      copiesMin: 2,
      chunks: [],
      bodies: [{ bucket: 'photos', bucketId, bodyId, sealed }],
    })
    t.equal(bodyOf(world, 'a'), Buffer.from(sealed).toString('latin1'))
    const grown = files.sizes.liveBytes - liveBytes
    t.ok(grown < 100, `${grown} bytes more count, and not two values`)
    await world.store.stateMachine.close()
    const after = await StoreWorld.open(t, world.dir)
    t.equal(await after.store.stateMachine.verify(), null)
  })

  t.test('writes nothing that points to values which are not durable, and stops', async (t) => {
    const world = await filled(t, ['a'])
    const { stateMachine } = world.store
    const { db } = stateMachine.handle.current
    const full = Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' })
    const batches = t.capture(db, 'batch')
    t.intercept(db.rows.files, 'append', { value: async () => await Promise.reject(full) })
    await t.rejects(world.do(inline('b')), { message: /the disk is full; free space/ })
    t.same(batches(), [])
    await t.rejects(world.do(inline('c')), { message: /the disk is full/ }, 'nothing more is applied')
  })
  t.end()
})

t.test('a start', async (t) => {
  t.test('after a clean stop continues the newest value file', async (t) => {
    const world = await filled(t, ['a', 'b'])
    await world.store.stateMachine.close()
    const after = await StoreWorld.open(t, world.dir)
    await after.do(inline('c'))
    t.equal(readdirSync(valuesIn(world.dir)).length, 1)
    for (const name of ['a', 'b', 'c']) t.equal(bodyOf(after, name), textOf(name))
    await after.store.stateMachine.tablesChecked
    t.same(after.damages, [])
  })

  t.test('after any other stop reads every value, and begins another file', async (t) => {
    const world = await filled(t, ['a', 'b'])
    const copy = temporaryDirectory(t)
    copyOfOpen(world.dir, copy)
    const after = await StoreWorld.open(t, copy)
    await after.do(inline('c'))
    t.equal(readdirSync(valuesIn(copy)).length, 2)
    for (const name of ['a', 'b', 'c']) t.equal(bodyOf(after, name), textOf(name))
  })

  const change: Record<string, (path: string) => void> = {
    'a flipped bit': (path) => flip(path, 2_000),
    'a file that is cut short': (path) => truncateSync(path, 2_000),
    'a file that is missing': (path) => rmSync(path),
    'a file under another name': (path) => renameSync(path, path.replace('00000001', '00000007')),
  }
  for (const [what, make] of Object.entries(change)) {
    t.test(`finds ${what}`, async (t) => {
      const world = await filled(t, ['a', 'b'])
      const copy = temporaryDirectory(t)
      copyOfOpen(world.dir, copy)
      make(newestIn(copy))
      const crashed = openStore({ dir: copy, logger: SILENT, metadataKey: testMetadataKey() }).stateMachine
      t.type((await crashed.open()).fault, 'string', 'after a crash')
      await crashed.close()
      await world.store.stateMachine.close()
      make(newestIn(world.dir))
      const damages: unknown[] = []
      const stopped = openStore({
        dir: world.dir,
        metadataKey: testMetadataKey(),
        logger: SILENT,
      }).stateMachine
      const { fault } = await stopped.open((error) => damages.push(error))
      await stopped.tablesChecked
      t.ok(fault !== null || damages.length === 1, 'at the start after a clean stop, or soon after it')
      await stopped.close()
    })
  }
  t.end()
})
