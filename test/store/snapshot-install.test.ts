/**
 * Snapshots and installs on real files, beyond what the contract of the port asks: directories, readers, damage during the transfer.
 */
import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { STATE_BLOCK_BYTES_MAX, type StateBlock, type StateSource } from '../../cluster/index.ts'
import { SILENT } from '../helpers/loggers.ts'
import { openStore } from '../../src/store/open-store.ts'
import { frameRow, rowsOf } from '../../src/store/rows/row-block.ts'
import { keyBytes, sealRow } from '../../src/store/rows/row-codec.ts'
import { rowHash, RowSum } from '../../src/store/rows/row-sum.ts'
import { MACHINE_RECORD_KEY, STATE_CHECKSUM_KEY } from '../../src/store/rows/state-rows.ts'
import { deferred } from '../helpers/async.ts'
import { put } from '../state-machine/map-world.ts'
import { copyOfOpen } from './open-copy.ts'
import { blocksOf, indexIn, recordOf, StoreWorld, type Teardown, temporaryDirectory } from './store-world.ts'
import { bucketKeys } from '../../src/state-machine/buckets/keys.ts'
import { pageOfObjects } from '../../src/store/reads/object-listing.ts'
import { testMetadataKey } from '../helpers/sealed-metadata.ts'

const everything = { prefix: '', delimiter: '', limit: 1000, after: '' }
const BODY_BYTES = 9000
/** Enough for several blocks. */
const OBJECTS = 400
const START = new Uint8Array()

const inline = (key: string, bytes = BODY_BYTES) =>
  put(key, { kind: 'inline', chunkId: `c-${key}`, sealed: Buffer.alloc(bytes, key) }, bytes)

async function filledWorld(t: Teardown): Promise<StoreWorld> {
  const world = await StoreWorld.withBucket(t)
  await world.apply(Array.from({ length: OBJECTS }, (_, i) => inline(`k${String(i).padStart(3, '0')}`)))
  return world
}

const statesIn = (dir: string) => readdirSync(dir).sort()

/** A source out of rows as they are: nothing is checked, nothing is cut into blocks. */
function sourceOf(rows: readonly { readonly key: Buffer; readonly value: Buffer }[]): StateSource {
  const sum = new RowSum()
  for (const { key, value } of rows) sum.add(rowHash(key, value))
  const bytes = Buffer.concat(rows.map(({ key, value }) => frameRow(key, value)))
  const through = rows.at(-1)?.key ?? START
  return {
    record: recordOf(9),
    checksum: sum.bytes(),
    block: async () => ({ rows: bytes, digest: hash('sha256', bytes, 'buffer'), through, isEnd: true }),
  }
}

t.test('block', (t) => {
  t.test('holds one row where that is larger than a block, and never less than one', async (t) => {
    const world = await StoreWorld.withBucket(t)
    await world.apply([
      inline('a', 2 * STATE_BLOCK_BYTES_MAX),
      inline('b', 10),
      inline('c', 2 * STATE_BLOCK_BYTES_MAX),
    ])
    const cut = await world.store.stateMachine.snapshot()
    const blocks = await blocksOf(cut)
    const large = blocks.filter(({ rows }) => (rows?.length ?? 0) > STATE_BLOCK_BYTES_MAX)
    t.equal(large.length, 2)
    for (const { rows } of large) t.equal([...rowsOf(rows ?? START)].length, 1)
    const target = await StoreWorld.open(t)
    await target.store.stateMachine.install(cut)
    t.same(target.store.stateMachine.checksum(), cut.checksum)
    await cut.release()
  })

  t.test('gives the beginning of a range that is larger here than a block', async (t) => {
    const cut = await (await filledWorld(t)).store.stateMachine.snapshot()
    const [first, second] = await blocksOf(cut)
    assert(first !== undefined && second !== undefined)
    const held = { through: second.through, digest: Buffer.alloc(32) }
    t.same(await cut.block({ after: START, held }), first)
    await t.rejects(cut.block({ after: second.through, held }), /ends before it begins/)
    await cut.release()
  })

  t.test('is refused once the cut was given up or its state was closed', async (t) => {
    const world = await filledWorld(t)
    const [early, late] = [
      await world.store.stateMachine.snapshot(),
      await world.store.stateMachine.snapshot(),
    ]
    await early.release()
    await t.rejects(early.block({ after: START, held: null }))
    await world.store.stateMachine.close()
    await t.rejects(late.block({ after: START, held: null }))
    await late.release()
  })
  t.end()
})

t.test('install', (t) => {
  t.test('leaves one state and nothing beside it, however often', async (t) => {
    const source = await filledWorld(t)
    const target = await StoreWorld.withBucket(t)
    await target.do({
      type: 'createBucket',
      tenantId: 'acme',
      name: 'gone-after',
      bucketsMax: 10,
      versioning: 'Unversioned',
      objectLockEnabled: false,
    })
    for (const state of ['state-2', 'state-3']) {
      const cut = await source.store.stateMachine.snapshot()
      t.equal(indexIn(await target.store.stateMachine.install(cut)), 2)
      await cut.release()
      t.equal(target.store.reader.get(bucketKeys.bucket('acme', 'gone-after')), undefined)
      t.same(statesIn(target.dir), ['CURRENT', 'INSTALLED', state])
    }
    target.index = 2
    await target.do(inline('next'))
    await target.store.stateMachine.close()
    t.same(statesIn(target.dir), ['CLOSED', 'CURRENT', 'state-3'])
    const again = await StoreWorld.open(t, target.dir)
    t.equal(again.index, 3)
    t.equal(again.photos.objectCount, OBJECTS + 1)
  })

  t.test('refuses rows that no state may hold', async (t) => {
    const target = await StoreWorld.withBucket(t)
    const { stateMachine } = target.store
    const row = (key: Buffer) => ({ key, value: sealRow(key, Buffer.of(0x80)) })
    const [a, b] = [row(keyBytes('a')), row(keyBytes('b'))]
    const install = async (...rows: readonly (typeof a)[]) => await stateMachine.install(sourceOf(rows))
    await t.rejects(install(b, a, b), /ascend/)
    await t.rejects(install(a, a), /ascend/)
    await t.rejects(install(a, { key: b.key, value: a.value }), /a row of it is damaged/)
    for (const key of [MACHINE_RECORD_KEY, STATE_CHECKSUM_KEY, Buffer.of(0, 97), Buffer.alloc(0)]) {
      await t.rejects(install(row(key)), /no row of a state|ascend/)
    }
    const many = Array.from({ length: 3 }, (_, i) => {
      const key = keyBytes(`k${i}`)
      return { key, value: sealRow(key, Buffer.alloc(STATE_BLOCK_BYTES_MAX / 2)) }
    })
    await t.rejects(install(...many), /larger than a block/)
    t.equal(indexIn(stateMachine.handle.current.seal()?.record ?? null), 1)
    t.same(await install(a, b), recordOf(9), 'the source of this test is right')
  })

  t.test('pulls again what was damaged on this disk while it was gathered', async (t) => {
    const cut = await (await filledWorld(t)).store.stateMachine.snapshot()
    const count = (await blocksOf(cut)).length
    for (const spoil of ['a row', 'a note', 'the manifest'] as const) {
      const target = await StoreWorld.open(t)
      await t.rejects(target.store.stateMachine.install(breakingAt(cut, count - 1)), /hung up/)
      await spoilIncoming(join(target.dir, 'incoming'), spoil)
      let carried = 0
      const counted: StateSource = {
        ...cut,
        block: async (request) => {
          const block = await cut.block(request)
          if (block.rows !== null) carried++
          return block
        },
      }
      t.equal(indexIn(await target.store.stateMachine.install(counted)), 2)
      t.same(target.store.stateMachine.checksum(), cut.checksum)
      t.equal(await target.store.stateMachine.verify(), null)
      t.equal(carried, spoil === 'the manifest' ? count : 2, `${spoil}: the last block, and what was damaged`)
    }
    await cut.release()
  })

  t.test('never breaks a read: each sees the old state or the new one, whole', async (t) => {
    const cut = await (await filledWorld(t)).store.stateMachine.snapshot()
    const target = await StoreWorld.withBucket(t)
    await target.do(inline('old'))
    const [held, release] = [deferred(), deferred()]
    const slow = target.store.stateMachine.handle.current.lease(async (state) => {
      held.resolve()
      await release.promise
      return await state.db.keys({}).all()
    })
    await held.promise
    let installed = false
    const counts = new Set<number>()
    const listings: Promise<unknown>[] = []
    const read = () => {
      const { objectCount } = target.photos
      counts.add(objectCount)
      listings.push(
        pageOfObjects(target.store.reader, target.photos.id, everything).then(({ objects }) =>
          assert.equal(objects.length, objectCount),
        ),
      )
    }
    const withReads: StateSource = {
      ...cut,
      block: async (request) => {
        read()
        return await cut.block(request)
      },
    }
    const install = target.store.stateMachine.install(withReads).then(() => (installed = true))
    while (target.photos.objectCount === 1) await new Promise((resolve) => setImmediate(resolve))
    read()
    t.notOk(installed, 'the old state is kept open for the read that still uses it')
    release.resolve()
    t.ok((await slow).length > 0)
    await install
    await Promise.all(listings)
    t.same([...counts], [1, OBJECTS])
    await cut.release()
  })

  t.test('works where nothing usable is on disk, and leaves the old state until it is done', async (t) => {
    const cut = await (await filledWorld(t)).store.stateMachine.snapshot()
    const damages: Record<string, (dir: string) => void> = {
      'a pointer that is damaged': (dir) => writeFileSync(join(dir, 'CURRENT'), 'x'),
      'a manifest that is damaged': (dir) => spoilFile(join(dir, 'state-1'), /^MANIFEST/),
      'a log that is damaged': (dir) => spoilFile(join(dir, 'state-1'), /\.log$/),
      'a quarantine marker that is damaged': (dir) => writeFileSync(join(dir, 'DISTRUSTED'), '{}'),
    }
    for (const [what, damage] of Object.entries(damages)) {
      const world = await StoreWorld.withBucket(t)
      await world.store.stateMachine.close()
      damage(world.dir)
      const { stateMachine, reader } = openStore({
        dir: world.dir,
        metadataKey: testMetadataKey(),
        logger: SILENT,
      })
      t.match(await stateMachine.open(), { record: null, fault: String }, what)
      await t.rejects(stateMachine.install(breakingAt(cut, 1)), /hung up/)
      t.ok(statesIn(world.dir).includes('state-1'))
      t.equal(indexIn(await stateMachine.install(cut)), 2)
      t.equal(reader.get(bucketKeys.bucket('acme', 'photos'))?.objectCount, OBJECTS)
      t.same(statesIn(world.dir), ['CURRENT', 'INSTALLED', 'state-2'], what)
      await stateMachine.close()
      t.equal((await StoreWorld.open(t, world.dir)).index, 2)
    }
    await cut.release()
  })

  t.test('keeps what a crash left under its name, and drops older states', async (t) => {
    const cut = await (await filledWorld(t)).store.stateMachine.snapshot()
    const copies = new Map<string, string>()
    const dir = temporaryDirectory(t)
    const { stateMachine } = openStore({
      dir,
      metadataKey: testMetadataKey(),
      logger: SILENT,
      onInstallStep: (step) => {
        const copy = temporaryDirectory(t)
        copyOfOpen(dir, copy)
        copies.set(step, copy)
      },
    })
    t.teardown(() => stateMachine.close())
    await stateMachine.open()
    await stateMachine.install(cut)
    const [named, current] = [copies.get('named') ?? '', copies.get('made current') ?? '']
    t.same(statesIn(named), ['CURRENT', 'state-1', 'state-2'])
    await StoreWorld.open(t, named)
    t.same(statesIn(named), ['CURRENT', 'incoming', 'state-1'])
    mkdirSync(join(current, 'state-9'))
    writeFileSync(join(current, 'CURRENT.new'), 'half')
    t.equal((await StoreWorld.open(t, current)).photos.objectCount, OBJECTS)
    t.same(
      statesIn(current).filter((name) => name.startsWith('state') || name.endsWith('.new')),
      ['state-2'],
    )
    await cut.release()
  })
  t.end()
})

/** Gives so many blocks and then breaks. */
function breakingAt(source: StateSource, count: number): StateSource {
  let left = count
  return {
    ...source,
    block: async (request): Promise<StateBlock> => {
      if (left-- === 0) throw new Error('the peer hung up')
      return await source.block(request)
    },
  }
}

function spoilFile(dir: string, name: RegExp): void {
  const file = readdirSync(dir).find((one) => name.test(one))
  assert(file !== undefined)
  const bytes = readFileSync(join(dir, file))
  bytes[20] = (bytes[20] ?? 0) ^ 16
  writeFileSync(join(dir, file), bytes)
}

async function spoilIncoming(dir: string, what: 'a row' | 'a note' | 'the manifest'): Promise<void> {
  if (what === 'the manifest') return spoilFile(dir, /^MANIFEST/)
  const { Level } = await import('level')
  const db = new Level<Buffer, Buffer>(dir, { keyEncoding: 'buffer', valueEncoding: 'buffer' })
  const isNote = (key: Buffer) => key[0] === 0
  const [key] = (await db.keys().all()).filter((one) => isNote(one) === (what === 'a note'))
  assert(key !== undefined)
  const value = await db.get(key)
  assert(value !== undefined)
  value[value.length - 1] = (value.at(-1) ?? 0) ^ 1
  await db.put(key, value)
  await db.close()
}
