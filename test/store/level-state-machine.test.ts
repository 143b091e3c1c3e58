import assert from 'node:assert/strict'
import { cpSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { SILENT } from '../helpers/loggers.ts'
import type { Command } from '../../src/state-machine/commands.ts'
import { keys } from '../../src/state-machine/keys.ts'
import { encodeCommand } from '../../src/store/command-codec.ts'
import { MACHINE_RECORD_KEY } from '../../src/store/open-state.ts'
import { openStore } from '../../src/store/open-store.ts'
import { encodeRow, keyBytes, RowDamagedError } from '../../src/store/row-codec.ts'
import { createTenant, put, putChunks } from '../state-machine/map-world.ts'
import { drain, indexIn, recordOf, StoreWorld, type Teardown, temporaryDirectory } from './store-world.ts'

const empty = (key: string) => put(key, { kind: 'empty' }, 0)
const everything = { prefix: '', delimiter: '', limit: 1000, after: '' }

t.test('LevelStateMachine', (t) => {
  t.test(
    'remembers record and rows over a restart, and answers null when nothing was ever applied',
    async (t) => {
      const dir = temporaryDirectory(t)
      const { stateMachine, reader } = openStore({ dir, logger: SILENT })
      t.equal(await stateMachine.open(), null)
      await stateMachine.apply({ entries: [], record: recordOf(4) })
      await stateMachine.close()
      await stateMachine.close()
      t.throws(() => reader.tenant('acme'), 'nothing is read after close')
      const again = await StoreWorld.open(t, dir)
      t.equal(again.index, 4)
      await again.do(createTenant('acme'))
      t.match(again.store.reader.tenant('acme'), { name: 'acme' })
    },
  )

  t.test('lets every command see what came before it in the same batch', async (t) => {
    const world = await StoreWorld.open(t)
    const first = [createTenant('acme'), createTenant('acme')].map(encodeCommand)
    const second: Command[] = [
      { type: 'createBucket', tenantId: 'acme', name: 'photos', bucketsMax: 10 },
      putChunks('k', ['c1']),
      putChunks('k', ['c1', 'c2']),
      { type: 'deleteObject', tenantId: 'acme', bucket: 'photos', key: 'k' },
      { type: 'deleteObject', tenantId: 'acme', bucket: 'photos', key: 'k' },
    ]
    const replies = await world.store.stateMachine.apply({
      entries: [
        { index: 1, time: 10, commands: first },
        { index: 2, time: 11, commands: second.map(encodeCommand) },
      ],
      record: recordOf(2),
    })
    t.same(
      replies.map((list) => list.length),
      [2, 5],
    )
    t.match(world.photos, { objectCount: 0, logicalBytes: 0, createdAt: 11 })
    t.match(world.store.reader.chunk('acme', 'c1'), { references: 0, condemnedAt: 2 })
  })

  t.test('writes nothing of a batch that holds an unknown command', async (t) => {
    const world = await StoreWorld.open(t)
    const commands = [encodeCommand(createTenant('acme')), encodeCommand({ type: 'makeCoffee' } as never)]
    const batch = { entries: [{ index: 1, time: 1, commands }], record: recordOf(1) }
    await t.rejects(world.store.stateMachine.apply(batch), /makeCoffee/)
    t.equal(world.store.reader.tenant('acme'), undefined)
    t.equal(world.store.stateMachine.handle.current.machineRecord(), null)
  })

  t.test('applies nothing more once a write failed', async (t) => {
    const world = await StoreWorld.withBucket(t)
    const { db } = world.store.stateMachine.handle.current
    const refusal = new Error('EIO')
    t.intercept(db, 'batch', { value: async () => await Promise.reject(refusal) })
    await t.rejects(world.do(empty('a')), { message: /disk refused/, cause: refusal })
    Reflect.deleteProperty(db, 'batch')
    await t.rejects(world.do(empty('b')), /disk refused/)
  })

  t.test('finds a key although one that it begins with is stored as well', async (t) => {
    // NOTE: classic-level cuts a string key short where a character straddles its buffer; this is why keys go in as bytes.
    const world = await StoreWorld.withBucket(t)
    const stem = (length: number) => 'a'.repeat(length)
    await world.apply(Array.from({ length: 300 }, (_, i) => empty(stem(i + 1))))
    const { reader } = world.store
    for (let i = 1; i <= 300; i++) t.equal(reader.object(world.photos, `${stem(i)}€€`), undefined)
  })
  t.end()
})

t.test('crash', (t) => {
  /** What a machine finds that lost power: `dir` as it is on disk now, without a close. */
  async function reopened(t: Teardown, dir: string, cut?: (state: string) => void) {
    const copy = temporaryDirectory(t)
    cpSync(dir, copy, { recursive: true })
    cut?.(join(copy, readFileSync(join(copy, 'CURRENT'), 'utf8').trim()))
    const { stateMachine, reader } = openStore({ dir: copy, logger: SILENT })
    const index = indexIn(await stateMachine.open())
    const bucket = index === 0 ? undefined : reader.bucket('acme', 'photos')
    const listed = bucket && (await reader.objects(bucket, everything)).objects
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
      seen.add(found.index)
      if (found.index === 0) continue
      assert.deepEqual(found, { index: found.index, count: found.index - 1, keys: keysUpTo(found.index) })
    }
    t.same([...seen], [0, 1, 2, 3, 4, 5], 'and every batch boundary was met')
  })
  t.end()
})

t.test('damage', (t) => {
  const damagedWorld = async (t: Teardown) => {
    const world = await StoreWorld.withBucket(t)
    await world.apply(['a', 'b', 'c'].map(empty))
    const { db } = world.store.stateMachine.handle.current
    const key = keyBytes(keys.object(world.photos.id, 'b'))
    const value = await db.get(key)
    assert(value !== undefined)
    value[value.length - 1] = (value.at(-1) ?? 0) ^ 1
    await db.put(key, value)
    return world
  }

  t.test(
    'of a row fails the reads, the commands and the snapshots that meet it, and no others',
    async (t) => {
      const world = await damagedWorld(t)
      const { reader, stateMachine } = world.store
      t.throws(() => reader.object(world.photos, 'b'), RowDamagedError)
      await t.rejects(reader.objects(world.photos, everything), RowDamagedError)
      t.equal(reader.object(world.photos, 'a')?.key, 'a')
      await t.rejects(drain(await stateMachine.snapshot()), RowDamagedError)
      await t.rejects(world.do(empty('b')), RowDamagedError)
      t.equal(world.photos.objectCount, 3)
    },
  )

  t.test('of the pointer, or a state that is not there, refuses to open and touches nothing', async (t) => {
    const world = await StoreWorld.withBucket(t)
    await world.store.stateMachine.close()
    const pointer = join(world.dir, 'CURRENT')
    for (const text of ['', 'state-0\n', 'state-1x\n', '../state-1\n', 'state-7\n']) {
      writeFileSync(pointer, text)
      const { stateMachine } = openStore({ dir: world.dir, logger: SILENT })
      const refusal = { code: 'state_damaged', hint: /move .* away/ }
      await t.rejects(stateMachine.open(), refusal)
      t.ok(readdirSync(world.dir).includes('state-1'))
    }
    writeFileSync(pointer, 'state-1\n')
    t.equal((await StoreWorld.open(t, world.dir)).index, 1)
  })

  t.test('of the machine record refuses to open', async (t) => {
    const world = await StoreWorld.withBucket(t)
    const { db } = world.store.stateMachine.handle.current
    await db.put(MACHINE_RECORD_KEY, Buffer.from('nonsense'))
    await world.store.stateMachine.close()
    const { stateMachine } = openStore({ dir: world.dir, logger: SILENT })
    await t.rejects(stateMachine.open(), { code: 'state_damaged', cause: RowDamagedError })
    await stateMachine.close()
  })

  t.test('a row under a foreign key is not taken for the row of that key', async (t) => {
    const world = await StoreWorld.withBucket(t)
    await world.do(empty('a'))
    const { db } = world.store.stateMachine.handle.current
    const [from, to] = ['a', 'z'].map((key) => keyBytes(keys.object(world.photos.id, key)))
    assert(from !== undefined && to !== undefined)
    const value = await db.get(from)
    assert(value !== undefined)
    await db.put(to, value)
    t.throws(() => world.store.reader.object(world.photos, 'z'), RowDamagedError)
    await db.put(to, encodeRow(to, { count: 1 }))
    t.doesNotThrow(() => world.store.reader.object(world.photos, 'z'), 'the checksum binds to the key')
  })
  t.end()
})
