import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { SILENT } from '../helpers/loggers.ts'
import { openStore } from '../../src/store/open-store.ts'
import { keyBytes, RowDamagedError, sealRow } from '../../src/store/row-codec.ts'
import { encodeFrame, FRAME_KIND, MAGIC } from '../../src/store/snapshot-frames.ts'
import { deferred } from '../helpers/async.ts'
import { put } from '../state-machine/map-world.ts'
import {
  drain,
  indexIn,
  recordOf,
  StoreWorld,
  streamOf,
  type Teardown,
  temporaryDirectory,
} from './store-world.ts'

const everything = { prefix: '', delimiter: '', limit: 1000, after: '' }
const BODY_BYTES = 2000
/** Enough for several frames of rows. */
const OBJECTS = 400

const inline = (key: string) =>
  put(key, { kind: 'inline', chunkId: `c-${key}`, sealed: Buffer.alloc(BODY_BYTES, key) }, BODY_BYTES)

async function filledWorld(t: Teardown): Promise<StoreWorld> {
  const world = await StoreWorld.withBucket(t)
  await world.apply(Array.from({ length: OBJECTS }, (_, i) => inline(`k${String(i).padStart(3, '0')}`)))
  return world
}

const snapshotOf = async (world: StoreWorld) => await drain(await world.store.stateMachine.snapshot())
const statesIn = (dir: string) => readdirSync(dir).sort()

t.test('snapshot', (t) => {
  t.test('throws when nothing was ever applied', async (t) => {
    const world = await StoreWorld.open(t)
    await t.rejects(world.store.stateMachine.snapshot(), /nothing was ever applied/)
  })

  t.test('holds what stood when it was taken, whatever is applied before it is read', async (t) => {
    const world = await filledWorld(t)
    const before = await snapshotOf(world)
    const late = await world.store.stateMachine.snapshot()
    t.equal(indexIn(late.record), 2)
    await world.do({ type: 'deleteObject', tenantId: 'acme', bucket: 'photos', key: 'k000' })
    await world.do(inline('later'))
    t.ok(Buffer.concat(await drain(late)).equals(Buffer.concat(before)), 'byte for byte')
    t.notOk(Buffer.concat(await snapshotOf(world)).equals(Buffer.concat(before)))
  })

  t.test('is given up half way, or after its state was closed, without harm', async (t) => {
    const world = await filledWorld(t)
    const half = await world.store.stateMachine.snapshot()
    for await (const frame of half.stream) {
      if (frame.length > 1000) break
    }
    await half.release()
    const late = await world.store.stateMachine.snapshot()
    await world.store.stateMachine.close()
    await late.release()
    await t.rejects(drain(late))
  })
  t.end()
})

t.test('install', (t) => {
  t.test('gives the same state, record included, over whatever stood there before', async (t) => {
    const source = await filledWorld(t)
    const frames = await snapshotOf(source)
    t.ok(frames.length >= 5, 'header, several blocks of rows, trailer')
    const target = await StoreWorld.withBucket(t)
    await target.do({ type: 'createBucket', tenantId: 'acme', name: 'gone-after', bucketsMax: 10 })
    for (const pieces of [frames, slices(Buffer.concat(frames), 1777), [Buffer.concat(frames)]]) {
      t.equal(indexIn(await target.store.stateMachine.install(streamOf(...pieces))), 2)
      t.equal(target.store.reader.bucket('acme', 'gone-after'), undefined)
      t.ok(Buffer.concat(await snapshotOf(target)).equals(Buffer.concat(frames)))
    }
    t.same(statesIn(target.dir), ['CURRENT', 'state-4'])
    target.index = 2
    await target.do(inline('next'))
    await target.store.stateMachine.close()
    const again = await StoreWorld.open(t, target.dir)
    t.equal(again.index, 3)
    t.equal(again.photos.objectCount, OBJECTS + 1)
  })

  t.test('of one byte at a time works as well', async (t) => {
    const source = await StoreWorld.withBucket(t)
    const bytes = Buffer.concat(await snapshotOf(source))
    const target = await StoreWorld.open(t)
    t.equal(indexIn(await target.store.stateMachine.install(streamOf(...slices(bytes, 1)))), 1)
  })

  t.test(
    'refuses a stream with a flipped bit, a cut, or frames out of place; the old state stands',
    async (t) => {
      const frames = await snapshotOf(await filledWorld(t))
      const target = await StoreWorld.withBucket(t)
      const standing = Buffer.concat(await snapshotOf(target))
      for (const [what, parts] of spoilt(frames)) {
        try {
          await target.store.stateMachine.install(streamOf(...parts))
          t.fail(`accepted: ${what}`)
        } catch (error) {
          if (!/Damaged/.test((error as Error).name)) t.fail(`${what}: ${String(error)}`)
        }
        const left = statesIn(target.dir).join()
        if (left !== 'CURRENT,state-1') t.fail(`${what} left ${left}`)
      }
      t.ok(Buffer.concat(await snapshotOf(target)).equals(standing))
      await target.do(inline('still writable'))
      await target.store.stateMachine.close()
      t.equal((await StoreWorld.open(t, target.dir)).photos.objectCount, 1)
    },
  )

  t.test('refuses a stream that is framed well and says what cannot be', async (t) => {
    const target = await StoreWorld.withBucket(t)
    const rows = ['a', 'b', 'machineRecord'].map((name) => {
      const key = keyBytes(name)
      return { key, value: sealRow(key, recordOf(9)) }
    })
    const [a, b, record] = rows
    assert(a !== undefined && b !== undefined && record !== undefined)
    const install = async (...blocks: readonly (typeof rows)[]) =>
      await target.store.stateMachine.install(streamOf(...framed(blocks)))
    t.same(await install([a], [b, record]), recordOf(9), 'the frames of this test are right')
    await t.rejects(install([b, a, record]), /do not ascend/)
    await t.rejects(install([a], [a, b, record]), /do not ascend/)
    await t.rejects(install([a, b]), /no machine record/)
    await t.rejects(install([a, { key: b.key, value: a.value }, record]), RowDamagedError)
    const whole = framed([[a, record]])
    await t.rejects(
      target.store.stateMachine.install(streamOf(...whole, ...framed([[b]]).slice(1))),
      /follows/,
    )
    t.equal(indexIn(target.store.stateMachine.handle.current.machineRecord()), 9)
  })

  t.test('fails with the reason of the source when the stream breaks', async (t) => {
    const frames = await snapshotOf(await filledWorld(t))
    const target = await StoreWorld.withBucket(t)
    const cause = new Error('the leader hung up')
    async function* broken() {
      yield* frames.slice(0, 3)
      throw cause
    }
    await t.rejects(target.store.stateMachine.install(broken()), cause)
    t.same(statesIn(target.dir), ['CURRENT', 'state-1'])
  })

  t.test(
    'leaves the old state to a machine that dies in the middle, and the new one to one that dies after',
    async (t) => {
      const frames = await snapshotOf(await filledWorld(t))
      const target = await StoreWorld.withBucket(t)
      const [middle, after] = [temporaryDirectory(t), temporaryDirectory(t)]
      async function* crashing() {
        yield* frames.slice(0, -1)
        cpSync(target.dir, middle, { recursive: true })
        yield* frames.slice(-1)
      }
      await target.store.stateMachine.install(crashing())
      cpSync(target.dir, after, { recursive: true })
      mkdirSync(join(after, 'state-1'))
      writeFileSync(join(after, 'CURRENT.new'), 'state-1\n')
      t.same(statesIn(middle), ['CURRENT', 'state-1', 'state-2'])
      const old = await StoreWorld.open(t, middle)
      t.equal(old.index, 1)
      t.same(statesIn(middle), ['CURRENT', 'state-1'])
      t.equal((await StoreWorld.open(t, after)).photos.objectCount, OBJECTS)
      t.same(statesIn(after), ['CURRENT', 'state-2'])
      t.equal(readFileSync(join(after, 'CURRENT'), 'utf8'), 'state-2\n')
    },
  )

  t.test('never breaks a read: each sees the old state or the new one, whole', async (t) => {
    const frames = await snapshotOf(await filledWorld(t))
    const target = await StoreWorld.withBucket(t)
    await target.do(inline('old'))
    const [held, release] = [deferred(), deferred()]
    const slow = target.store.stateMachine.handle.current.lease(async (state) => {
      held.resolve()
      await release.promise
      return await state.db.keys().all()
    })
    await held.promise
    let installed = false
    const counts = new Set<number>()
    const listings: Promise<unknown>[] = []
    const read = () => {
      const { objectCount } = target.photos
      counts.add(objectCount)
      listings.push(
        target.store.reader
          .objects(target.photos, everything)
          .then(({ objects }) => assert.equal(objects.length, objectCount)),
      )
    }
    async function* withReads() {
      for (const frame of frames) {
        read()
        yield frame
      }
    }
    const install = target.store.stateMachine.install(withReads()).then(() => (installed = true))
    while (target.photos.objectCount === 1) await new Promise((resolve) => setImmediate(resolve))
    read()
    t.notOk(installed, 'the old state is kept open for the read that still uses it')
    release.resolve()
    t.ok((await slow).length > 0)
    await install
    await Promise.all(listings)
    t.same([...counts], [1, OBJECTS])
  })

  t.test('refuses to run beside apply', async (t) => {
    const world = await filledWorld(t)
    const frames = await snapshotOf(world)
    const install = world.store.stateMachine.install(streamOf(...frames))
    await t.rejects(world.do(inline('x')), /one at a time/)
    await install
  })

  t.test('works on a store that never applied anything', async (t) => {
    const frames = await snapshotOf(await filledWorld(t))
    const { stateMachine, reader } = openStore({ dir: temporaryDirectory(t), logger: SILENT })
    t.teardown(() => stateMachine.close())
    t.equal(await stateMachine.open(), null)
    await stateMachine.install(streamOf(...frames))
    t.equal(reader.bucket('acme', 'photos')?.objectCount, OBJECTS)
  })
  t.end()
})

/** A stream as a sender would make it that checks nothing. */
function framed(blocks: readonly (readonly { readonly key: Buffer; readonly value: Buffer }[])[]): Buffer[] {
  const sized = (part: Buffer) => {
    const length = Buffer.alloc(4)
    length.writeUInt32LE(part.length)
    return [length, part]
  }
  const frames = [
    encodeFrame(FRAME_KIND.header, MAGIC),
    ...blocks.map((rows) =>
      encodeFrame(
        FRAME_KIND.rows,
        Buffer.concat(rows.flatMap(({ key, value }) => [...sized(key), ...sized(value)])),
      ),
    ),
  ]
  const count = Buffer.alloc(8)
  count.writeBigUInt64LE(BigInt(blocks.flat().length))
  const hash = createHash('sha256').update(Buffer.concat(frames)).digest()
  return [...frames, encodeFrame(FRAME_KIND.trailer, Buffer.concat([count, hash]))]
}

function slices(bytes: Buffer, size: number): Buffer[] {
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) =>
    bytes.subarray(i * size, (i + 1) * size),
  )
}

function* spoilt(frames: readonly Buffer[]): Generator<readonly [string, readonly Buffer[]]> {
  const whole = Buffer.concat(frames)
  const others = (i: number) => [frames.slice(0, i), frames.slice(i + 1)] as const
  for (const [i, frame] of frames.entries()) {
    const [before, after] = others(i)
    // Each byte of the head, the ends and the middle of the payload.
    for (const at of [0, 1, 2, 3, 4, 7, 8, 9, frame.length >> 1, frame.length - 1]) {
      const flipped = Buffer.from(frame)
      flipped[at] = (flipped[at] ?? 0) ^ (1 << (at & 7))
      yield [`bit flipped in byte ${at} of frame ${i}`, [...before, flipped, ...after]]
    }
    yield [`frame ${i} missing`, [...before, ...after]]
    yield [`frame ${i} twice`, [...before, frame, frame, ...after]]
    yield [`cut before frame ${i}`, before]
    yield [`cut inside frame ${i}`, [...before, frame.subarray(0, frame.length >> 1)]]
    const next = frames[i + 1]
    if (next !== undefined)
      yield [`frames ${i} and ${i + 1} swapped`, [...before, next, frame, ...frames.slice(i + 2)]]
  }
  yield ['nothing at all', []]
  yield ['bytes behind the trailer', [whole, Buffer.of(0)]]
  yield ['a second snapshot behind the first', [whole, whole]]
  yield ['a length beyond every bound', [Buffer.alloc(64, 0xff)]]
}
