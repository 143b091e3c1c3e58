import assert from 'node:assert/strict'
import { cpSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { versionKeys } from '../../src/state-machine/versions/keys.ts'
import { SILENT } from '../helpers/loggers.ts'
import type { Command } from '../../src/state-machine/commands.ts'
import { encodeCommand } from '../../src/commands/command-codec.ts'
import { openDatabase } from '../../src/store/rows/open-database.ts'
import { testCipher, testMetadataKey } from '../helpers/sealed-metadata.ts'
import { openStore } from '../../src/store/open-store.ts'
import { encodeRow, keyBytes } from '../../src/store/rows/row-codec.ts'
import { MACHINE_RECORD_KEY, STATE_CHECKSUM_KEY } from '../../src/store/rows/state-rows.ts'
import {
  createBucket,
  createTenant,
  found,
  OPEN_SESSION,
  put,
  putChunks,
  remove,
} from '../state-machine/map-world.ts'
import { copyOfOpen } from './open-copy.ts'
import {
  indexIn,
  recordOf,
  StoreWorld,
  type Teardown,
  temporaryDirectory,
  failingBatch,
} from './store-world.ts'
import { timesAt } from '../helpers/entry-time.ts'
import { bucketKeys } from '../../src/state-machine/buckets/keys.ts'
import { chunkKeys } from '../../src/state-machine/chunks/keys.ts'
import { pageOfObjects } from '../../src/store/reads/object-listing.ts'
import { tenantKeys } from '../../src/state-machine/tenants/keys.ts'
import { putRow, removeRow } from '../helpers/database-rows.ts'

const empty = (key: string) => put(key, { kind: 'empty' }, 0)
const everything = { prefix: '', delimiter: '', limit: 1000, after: '' }

t.test('LevelStateMachine', (t) => {
  t.test(
    'remembers record and rows over a restart, and answers null when nothing was ever applied',
    async (t) => {
      const dir = temporaryDirectory(t)
      const { stateMachine, reader } = openStore({ dir, logger: SILENT, metadataKey: testMetadataKey() })
      t.same(await stateMachine.open(), { record: null, fault: null, isInstalled: false })
      await stateMachine.apply({ entries: [], record: recordOf(4) })
      await stateMachine.close()
      await stateMachine.close()
      t.throws(() => reader.get(tenantKeys.tenant('acme')), 'nothing is read after close')
      const again = await StoreWorld.open(t, dir)
      t.equal(again.index, 4)
      await again.do(createTenant('acme'))
      t.match(again.store.reader.get(tenantKeys.tenant('acme')), { name: 'acme' })
    },
  )

  t.test('lets every command see what came before it in the same batch', async (t) => {
    const world = await StoreWorld.open(t)
    const first = [createTenant('acme'), createTenant('acme'), OPEN_SESSION].map(encodeCommand)
    const second: Command[] = [
      createBucket(),
      putChunks('k', ['c1']),
      putChunks('k', [found('c1'), 'c2']),
      remove('k'),
      remove('k'),
    ]
    const replies = await world.store.stateMachine.apply({
      entries: [
        { index: 1, ...timesAt(10), featureLevel: 1, commands: first },
        { index: 2, ...timesAt(11), featureLevel: 1, commands: second.map(encodeCommand) },
      ],
      record: recordOf(2),
    })
    t.same(
      replies.map((list) => list.length),
      [3, 5],
    )
    t.match(world.photos, { objectCount: 0, logicalBytes: 0, createdAt: 11 })
    t.match(world.store.reader.get(chunkKeys.chunk('acme', 'c1')), { references: 0, condemnedAt: 2 })
  })

  t.test('decodes a command once when its cost was asked for, and gives the same result', async (t) => {
    const checksums = []
    for (const isAsked of [false, true]) {
      const world = await StoreWorld.open(t)
      await world.do(createTenant('acme'))
      const commands = [createBucket(), empty('k')].map(encodeCommand)
      if (isAsked) {
        for (const bytes of commands) t.ok(world.store.stateMachine.cost(bytes) > 0)
        // What is in the bytes now is never looked at.
        for (const bytes of commands) bytes.fill(0xc1)
      }
      const entry = { index: 2, ...timesAt(2), featureLevel: 1, commands }
      await world.store.stateMachine.apply({ entries: [entry], record: recordOf(2) })
      t.match(world.photos, { objectCount: 1 })
      checksums.push(Buffer.from(world.store.stateMachine.checksum()).toString('hex'))
    }
    t.equal(checksums[0], checksums[1])
  })

  t.test('writes nothing of a batch that holds an unknown command', async (t) => {
    const world = await StoreWorld.open(t)
    const commands = [encodeCommand(createTenant('acme')), encodeCommand({ type: 'makeCoffee' } as never)]
    const batch = { entries: [{ index: 1, ...timesAt(1), featureLevel: 1, commands }], record: recordOf(1) }
    await t.rejects(world.store.stateMachine.apply(batch), { index: 1, cause: { message: /makeCoffee/ } })
    t.equal(world.store.reader.get(tenantKeys.tenant('acme')), undefined)
    t.equal(world.store.stateMachine.handle.current.seal()?.record, null)
  })

  t.test('applies nothing more once a write failed', async (t) => {
    const world = await StoreWorld.withBucket(t)
    const { db } = world.store.stateMachine.handle.current
    const refusal = new Error('EIO')
    t.intercept(db, 'batch', { value: () => failingBatch(refusal) })
    await t.rejects(world.do(empty('a')), { message: /disk refused/, cause: refusal })
    Reflect.deleteProperty(db, 'batch')
    await t.rejects(world.do(empty('b')), /disk refused/)
    await world.store.stateMachine.close()
    t.notOk(readdirSync(world.dir).includes('CLOSED'), 'and the next start verifies every row')
  })

  t.test('says to free space when the disk is full', async (t) => {
    const world = await StoreWorld.withBucket(t)
    const { db } = world.store.stateMachine.handle.current
    const refusal = new Error('IO error: 000006.log: No space left on device')
    t.intercept(db, 'batch', { value: () => failingBatch(refusal) })
    await t.rejects(world.do(empty('a')), { message: /the disk is full; free space/, cause: refusal })
    Reflect.deleteProperty(db, 'batch')
    await world.store.stateMachine.close()
  })

  t.test('finds a key although one that it begins with is stored as well', async (t) => {
    // NOTE: classic-level cuts a string key short where a character straddles its buffer; this is why keys go in as bytes.
    const world = await StoreWorld.withBucket(t)
    const stem = (length: number) => 'a'.repeat(length)
    await world.apply(Array.from({ length: 300 }, (_, i) => empty(stem(i + 1))))
    const { reader } = world.store
    for (let i = 1; i <= 300; i++)
      t.equal(reader.get(versionKeys.object(world.photos.id, `${stem(i)}€€`)), undefined)
  })
  t.end()
})

/** The log ends before the first entry, which was durable before the state could be used. */
const NO_STATE = -1

t.test('crash', (t) => {
  /** What a machine finds that lost power: `dir` as it is on disk now, without a close. */
  async function reopened(t: Teardown, dir: string, cut?: (state: string) => void) {
    const copy = temporaryDirectory(t)
    copyOfOpen(dir, copy)
    cut?.(join(copy, 'state-1'))
    const { stateMachine, reader } = openStore({ dir: copy, logger: SILENT, metadataKey: testMetadataKey() })
    const { record, fault } = await stateMachine.open()
    const index = fault === null ? indexIn(record) : NO_STATE
    const bucket = index <= 0 ? undefined : reader.get(bucketKeys.bucket('acme', 'photos'))
    const listed = bucket && (await pageOfObjects(reader, bucket.id, everything)).objects
    await stateMachine.close()
    return { index, count: bucket?.objectCount, keys: listed?.map((object) => object.key) }
  }
  const keysUpTo = (index: number) =>
    Array.from({ length: index - 1 }, (_, i) => `k${String(i + 2).padStart(3, '0')}`)
  const next = (world: StoreWorld) => empty(`k${String(world.index + 1).padStart(3, '0')}`)

  t.test(
    'shows what was acknowledged, record and rows together, also in the middle of a write',
    async (t) => {
      const world = await StoreWorld.withBucket(t)
      for (let i = 0; i < 12; i++) {
        const written = world.do(next(world))
        const during = await reopened(t, world.dir)
        await written
        const after = await reopened(t, world.dir)
        t.same(during, { index: during.index, count: during.index - 1, keys: keysUpTo(during.index) })
        t.same(after, { index: world.index, count: world.index - 1, keys: keysUpTo(world.index) })
      }
    },
  )

  t.test('loses whole batches or nothing, wherever a torn write ends', async (t) => {
    const world = await StoreWorld.withBucket(t)
    for (let i = 0; i < 5; i++) await world.do(next(world))
    const logOf = (state: string) => {
      const name = readdirSync(state).find((file) => file.endsWith('.log'))
      assert(name !== undefined)
      return join(state, name)
    }
    const size = statSync(logOf(join(world.dir, 'state-1'))).size
    const seen = new Set<number>()
    for (let length = 0; length <= size; length += 61) {
      const found = await reopened(t, world.dir, (state) => truncateSync(logOf(state), length))
      // A longer log holds no less: rows without their record would be a fault here.
      assert(found.index >= Math.max(NO_STATE, ...seen), `${found.index} at ${length} bytes`)
      seen.add(found.index)
      if (found.index <= 0) continue
      assert.deepEqual(found, { index: found.index, count: found.index - 1, keys: keysUpTo(found.index) })
    }
    t.same([...seen], [NO_STATE, 0, 1, 2, 3, 4, 5], 'and every batch boundary was met')
  })
  t.end()
})

t.test('damage', (t) => {
  t.test('of the pointer, or a missing state, is a fault and changes nothing', async (t) => {
    const world = await StoreWorld.withBucket(t)
    await world.store.stateMachine.close()
    const pointer = join(world.dir, 'CURRENT')
    const good = readFileSync(pointer, 'utf8')
    for (const text of ['', good.replace('1', '2'), good.slice(0, -2), good + good]) {
      writeFileSync(pointer, text)
      const { stateMachine } = openStore({ dir: world.dir, logger: SILENT, metadataKey: testMetadataKey() })
      t.match(await stateMachine.open(), { record: null, fault: 'CURRENT is damaged' })
      await stateMachine.close()
      t.ok(readdirSync(world.dir).includes('state-1'))
    }
    rmSync(pointer)
    const { stateMachine } = openStore({ dir: world.dir, logger: SILENT, metadataKey: testMetadataKey() })
    t.match(await stateMachine.open(), { record: null, fault: /CURRENT is missing/ })
    await stateMachine.close()
    writeFileSync(pointer, good)
    t.equal((await StoreWorld.open(t, world.dir)).index, 1)
  })

  t.test('of whole files that are missing is a fault, after a clean stop and after another', async (t) => {
    for (const isClean of [true, false]) {
      const world = await StoreWorld.withBucket(t)
      await world.store.stateMachine.close()
      const again = await StoreWorld.open(t, world.dir)
      await again.do(empty('a'))
      if (isClean) await again.store.stateMachine.close()
      const files = readdirSync(join(world.dir, 'state-1')).filter((name) =>
        /ldb|log$|MANIFEST|CURRENT/.test(name),
      )
      t.equal(files.length, 4, files.join())
      for (const file of [...files, '']) {
        const copy = temporaryDirectory(t)
        copyOfOpen(world.dir, copy)
        rmSync(join(copy, 'state-1', file), { recursive: true })
        const { stateMachine } = openStore({ dir: copy, logger: SILENT, metadataKey: testMetadataKey() })
        const { record, fault } = await stateMachine.open()
        t.same([record, typeof fault], [null, 'string'], `without ${file}: ${fault}`)
        await stateMachine.close()
      }
    }
  })

  t.test('of the record or the checksum row is a fault, and so is one of another batch', async (t) => {
    for (const key of [MACHINE_RECORD_KEY, STATE_CHECKSUM_KEY]) {
      const world = await StoreWorld.withBucket(t)
      const { db } = world.store.stateMachine.handle.current
      const old = db.getSync(key)
      assert(old !== undefined)
      await world.do(empty('a'))
      for (const value of [old, Buffer.from('nonsense'), null]) {
        await (value === null ? removeRow(db, key) : putRow(db, key, value))
        const copy = temporaryDirectory(t)
        copyOfOpen(world.dir, copy)
        const { stateMachine } = openStore({ dir: copy, logger: SILENT, metadataKey: testMetadataKey() })
        t.match(await stateMachine.open(), { record: null, fault: String })
        await stateMachine.close()
      }
    }
  })

  t.test('that brings back an older state after a clean stop is a fault', async (t) => {
    const world = await StoreWorld.withBucket(t)
    await world.store.stateMachine.close()
    const older = temporaryDirectory(t)
    cpSync(join(world.dir, 'state-1'), older, { recursive: true })
    const again = await StoreWorld.open(t, world.dir)
    await again.do(empty('a'))
    await again.store.stateMachine.close()
    rmSync(join(world.dir, 'state-1'), { recursive: true })
    cpSync(older, join(world.dir, 'state-1'), { recursive: true })
    const { stateMachine } = openStore({ dir: world.dir, logger: SILENT, metadataKey: testMetadataKey() })
    t.match(await stateMachine.open(), { record: null, fault: String })
    await stateMachine.close()
  })

  t.test(
    'by another hand after a clean stop is a fault, although record and checksum are as they were',
    async (t) => {
      const world = await StoreWorld.withBucket(t)
      await world.do(empty('a'))
      const key = keyBytes(versionKeys.object(world.photos.id, 'a'))
      const { location } = world.store.stateMachine.handle.current
      await world.store.stateMachine.close()
      const db = await openDatabase(location, { create: false, separates: false }, testCipher('rows'))
      await removeRow(db, key)
      await db.close()
      const { stateMachine } = openStore({ dir: world.dir, logger: SILENT, metadataKey: testMetadataKey() })
      t.match(await stateMachine.open(), {
        record: null,
        fault: /missing|changed after the node was stopped/,
      })
      await stateMachine.close()
    },
  )

  t.test('that took whole rows away, or brought old ones back, is found by verify alone', async (t) => {
    const changes: Record<string, (world: StoreWorld, key: Buffer) => Promise<void>> = {
      'a row that is gone': async ({ store }, key) =>
        await removeRow(store.stateMachine.handle.current.db, key),
      'an old value of a row': async (world, key) => {
        const { db } = world.store.stateMachine.handle.current
        const old = db.getSync(key)
        await world.do(empty('a'))
        await putRow(db, key, old ?? Buffer.alloc(0))
      },
      'a row that was never written': async ({ store, photos }) => {
        const key = keyBytes(versionKeys.object(photos.id, 'foreign'))
        await putRow(store.stateMachine.handle.current.db, key, encodeRow(key, { count: 1 }))
      },
    }
    for (const [what, change] of Object.entries(changes)) {
      const world = await StoreWorld.withBucket(t)
      await world.do(empty('a'))
      await change(world, keyBytes(versionKeys.object(world.photos.id, 'a')))
      const copy = temporaryDirectory(t)
      copyOfOpen(world.dir, copy)
      t.match(await world.store.stateMachine.verify(), /rows are not those/, what)
      const { stateMachine } = openStore({ dir: copy, logger: SILENT, metadataKey: testMetadataKey() })
      t.match(await stateMachine.open(), { record: null, fault: /rows are not those/ }, what)
      await stateMachine.close()
    }
  })

  t.test('a row under a foreign key is not taken for the row of that key', async (t) => {
    const world = await StoreWorld.withBucket(t)
    await world.do(empty('a'))
    const { db } = world.store.stateMachine.handle.current
    const [from, to] = ['a', 'z'].map((key) => keyBytes(versionKeys.object(world.photos.id, key)))
    assert(from !== undefined && to !== undefined)
    const value = db.getSync(from)
    assert(value !== undefined)
    await putRow(db, to, encodeRow(to, { count: 1 }))
    t.doesNotThrow(
      () => world.store.reader.get(versionKeys.object(world.photos.id, 'z')),
      'the checksum binds to the key',
    )
    await putRow(db, to, value)
    t.throws(() => world.store.reader.get(versionKeys.object(world.photos.id, 'z')), {
      cause: { name: 'RowDamagedError' },
    })
  })
  t.end()
})
