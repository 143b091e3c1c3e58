/**
 * How a store of packs writes: shared flushes, successive packs, and the state after errors of the disk.
 */
import t from 'tap'
import type { FileOps } from '../../cluster/base/file-ops.ts'
import { ByteBudget } from '../../cluster/blobs/packs/byte-budget.ts'
import { BlobMissingError } from '../../cluster/base/types.ts'
import { deferred } from '../helpers/async.ts'
import { LOSE_ALL } from '../wal/memory-files.ts'
import { collect, type SampleBlob, sampleBlob, streamOf } from './blob-samples.ts'
import { MemoryRows } from './memory-rows.ts'
import { PackWorld, writeAll } from './pack-world.ts'

function systemError(code: string): Error {
  return Object.assign(new Error(`${code}: injected`), { code })
}

const samples = (count: number, size = 100) =>
  Array.from({ length: count }, (_, seed) => sampleBlob(seed, size))

/** The bytes that survive when power fails now and nothing more is written. */
function afterPowerCut(world: PackWorld): PackWorld {
  const after = new PackWorld()
  after.files = world.files.afterPowerCut(LOSE_ALL)
  after.rows = new MemoryRows((world.rows as MemoryRows).rows)
  return after
}

t.test('PackBlobStore', async (t) => {
  t.test(
    'makes writes of one turn durable with one flush, and those that arrive during it with the next',
    async (t) => {
      const world = new PackWorld()
      const store = await world.open()
      await writeAll(store, [sampleBlob(100)])
      const flushes: string[] = []
      const late: Promise<void>[] = []
      const write = (blob: SampleBlob) => store.write(blob, streamOf(blob.bytes), blob)
      world.files.beforeChange = (operation) => {
        flushes.push(operation)
        if (flushes.length === 1)
          for (const blob of [700, 701, 702].map((seed) => sampleBlob(seed))) late.push(write(blob))
      }
      await Promise.all(samples(64).map(write))
      await Promise.all(late)
      t.strictSame(flushes, ['write', 'fdatasync', 'write', 'fdatasync'])
    },
  )

  t.test(
    'counts a copy once that comes again as a new one, before or after its row is written',
    async (t) => {
      const world = new PackWorld()
      const [one, two] = [sampleBlob(1), sampleBlob(2)]
      const store = await world.open()
      const writeNew = (blob: SampleBlob) => store.writeNew(blob, streamOf(blob.bytes), blob)
      await Promise.all([writeNew(one), writeNew(two)])
      await writeNew(one)
      await store.list(null, 1)
      await Promise.all([writeNew(one), writeNew(two)])
      await store.list(null, 1)
      const again = await world.open()
      t.same(world.logged, [], 'after a kill the rows agree with the totals of their packs')
      for (const blob of [one, two]) t.equal((await again.verify(blob)).checksum, blob.checksum)
      await again.remove([one, two])
      while (await again.compact());
      t.equal(world.packs().length, 0, 'no earlier record counts as a live one')
    },
  )

  t.test('asks the index once for all new names of a flush, and reads no earlier copy', async (t) => {
    const world = new PackWorld()
    const asked: number[] = []
    const rows = new MemoryRows()
    world.rows = Object.assign(rows, {
      get: async (key: string) => (asked.push(1), rows.rows.get(key)),
      getMany: async (keys: readonly string[]) => (
        asked.push(keys.length), keys.map((key) => rows.rows.get(key))
      ),
    })
    const store = await world.open()
    asked.length = 0
    await store.writeNew(sampleBlob(100), streamOf(sampleBlob(100).bytes), sampleBlob(100))
    await Promise.all(samples(64).map((blob) => store.writeNew(blob, streamOf(blob.bytes), blob)))
    t.strictSame(asked, [1, 64])
  })

  t.test(
    'starts a new pack when one is full and after every start, and a single blob may be larger',
    async (t) => {
      const world = new PackWorld()
      world.limits = { packBytesMax: 4096 }
      const store = await world.open()
      await writeAll(store, [...samples(8), sampleBlob(20, 9000), sampleBlob(21)])
      t.equal(world.packs().length, 4)
      const sizes = world.packs().map((path) => world.files.bytesOf(path).length)
      await store.close()
      const again = await world.open()
      t.equal(world.packs().length, 4, 'no pack is created before it is needed')
      await writeAll(again, [sampleBlob(30)])
      t.equal(world.packs().length, 5)
      const [end = 0, ...before] = sizes.toReversed()
      const now = world.packs().map((path) => world.files.bytesOf(path).length)
      t.strictSame(now.slice(0, 4), [...before.toReversed(), end + 512], 'only the end mark was added')
      for (const blob of [...samples(8), sampleBlob(20, 9000)])
        t.equal((await again.verify(blob)).checksum, blob.checksum)
    },
  )

  for (const [code, expected] of [
    ['ENOSPC', 'disk_full'],
    ['EDQUOT', 'disk_full'],
    ['EIO', 'io_error'],
  ] as const) {
    for (const cutsBack of [true, false]) {
      const what = cutsBack ? '' : ', even if it cannot be cut back'
      t.test(`refuses with ${expected} and continues when a batch meets ${code}${what}`, async (t) => {
        const world = new PackWorld()
        let isFailing = false
        world.wrap = (ops): FileOps => ({
          ...ops,
          writeAt: async (file, pieces, position) => {
            if (!isFailing) return ops.writeAt(file, pieces, position)
            await ops.writeAt(file, pieces.slice(0, 1), position)
            throw systemError(code)
          },
          truncate: (file, length) =>
            cutsBack ? ops.truncate(file, length) : Promise.reject(systemError('EIO')),
        })
        const store = await world.open()
        const [before, during, after] = [sampleBlob(1), sampleBlob(2), sampleBlob(3)]
        await writeAll(store, [before])
        isFailing = true
        await t.rejects(store.write(during, streamOf(during.bytes), during), { code: expected })
        t.equal(await store.stat(during), null)
        isFailing = false
        await writeAll(store, [after, during])
        t.equal(world.packs().length, cutsBack ? 1 : 2)
        await store.close()
        world.rows = new MemoryRows()
        const again = await world.open()
        for (const blob of [before, during, after])
          t.equal((await again.verify(blob)).checksum, blob.checksum)
        t.same(
          world.logged.filter(({ fields }) => 'pack' in fields),
          [],
          'nothing looks like damage',
        )
      })
    }
  }

  t.test('stops acknowledging permanently, and reports that once, when a flush fails', async (t) => {
    const world = new PackWorld()
    const store = await world.open()
    const [before, ...more] = [sampleBlob(1), sampleBlob(2), sampleBlob(3)]
    await writeAll(store, [before])
    world.files.beforeChange = (operation) => {
      if (operation === 'fdatasync') throw systemError('EIO')
    }
    const writes = more.map((blob) => store.write(blob, streamOf(blob.bytes), blob))
    for (const write of writes) await t.rejects(write, { code: 'store_failed' })
    world.files.beforeChange = () => undefined
    await t.rejects(store.write(before, streamOf(before.bytes), before), { code: 'store_failed' })
    t.equal(world.fatal.length, 1)
    t.match(world.fatal[0]?.cause, { code: 'EIO' })
    t.equal((await store.verify(before)).checksum, before.checksum, 'a durable blob can still be read')
  })

  t.test('writes the records of a killed process again, into more than one pack', async (t) => {
    const world = new PackWorld()
    const store = await world.open()
    const blobs = samples(20, 700)
    await Promise.all(blobs.map((blob) => store.write(blob, streamOf(blob.bytes), blob)))
    world.limits = { packBytesMax: 4096 }
    const again = await world.open()
    t.ok(world.packs().length > 2)
    for (const path of world.packs().slice(1)) t.ok(world.files.bytesOf(path).length <= 4096 + 512, path)
    for (const blob of blobs) t.equal((await again.verify(blob)).checksum, blob.checksum)
    t.strictSame(
      world.logged.map(({ message }) => message),
      ['all packs are read from the start'],
    )
  })

  t.test('makes the records of a killed process durable in place when there is no space', async (t) => {
    const world = new PackWorld()
    const store = await world.open()
    const [flushed, late] = [sampleBlob(1), sampleBlob(2)]
    await writeAll(store, [flushed])
    world.files.beforeChange = (operation) => {
      if (operation === 'fdatasync') throw systemError('EIO')
    }
    await t.rejects(store.write(late, streamOf(late.bytes), late))
    world.files.beforeChange = (operation) => {
      if (operation === 'write') throw systemError('ENOSPC')
    }
    const again = await world.open()
    await again.write(late, streamOf(late.bytes), late)
    const after = await afterPowerCut(world).open()
    for (const blob of [flushed, late]) t.equal((await after.verify(blob)).checksum, blob.checksum)
  })

  t.test('stops when the index cannot be written', async (t) => {
    const world = new PackWorld()
    const store = await world.open()
    await writeAll(store, samples(2))
    const rows = world.rows as MemoryRows
    rows.beforeWrite = () => {
      throw systemError('EIO')
    }
    await t.rejects(store.remove(samples(1)), { code: 'store_failed' })
    t.equal(world.fatal.length, 1)
  })

  t.test('removes and quarantines durably before it acknowledges', async (t) => {
    const world = new PackWorld()
    const store = await world.open()
    const [removed = sampleBlob(0), quarantined = sampleBlob(1), kept = sampleBlob(2)] = samples(3)
    await writeAll(store, [removed, quarantined, kept])
    await store.quarantine(quarantined)
    const names = async () => (await (await afterPowerCut(world).open()).list(null, 10)).map(({ id }) => id)
    t.strictSame(await names(), [removed.id, kept.id].sort())
    await store.remove([removed])
    t.strictSame(await names(), [kept.id])
  })

  t.test('keeps the bytes of a quarantined record as they are on the disk', async (t) => {
    const world = new PackWorld()
    const store = await world.open()
    const blob = sampleBlob(1)
    await writeAll(store, [blob])
    world.damage(blob, 'bytes')
    const { path, at } = world.placeOf(blob)
    const record = Buffer.from(world.files.bytesOf(path).subarray(at, at + 256 + blob.size))
    await store.quarantine(blob)
    await store.quarantine(blob)
    const [kept = '', ...more] = world.quarantined()
    t.same(more, [])
    t.ok(kept.endsWith(`${blob.id}.${blob.birth}.0`))
    t.ok(world.files.bytesOf(kept).equals(record))
    await t.rejects(store.verify(blob), BlobMissingError)
  })

  t.test('writes the index in bounded batches, and finds names that are not in it yet', async (t) => {
    const world = new PackWorld()
    const store = await world.open()
    const blobs = samples(4500, 10)
    const writes: number[] = []
    const rows = world.rows as MemoryRows
    const write = rows.write.bind(rows)
    rows.write = async (changes) => {
      writes.push(changes.size)
      await write(changes)
    }
    for (let at = 0; at < blobs.length; at += 500) {
      const some = blobs.slice(at, at + 500)
      await Promise.all(some.map((blob) => store.write(blob, streamOf(blob.bytes), blob)))
    }
    t.ok(writes.length >= 1 && writes.every((size) => size < 5000))
    for (const blob of [blobs[0], blobs[4499]])
      t.equal(blob && (await collect(store.read(blob, 0, 10))).length, 10)
    t.equal((await store.list(null, 5000)).length, 4500)
  })

  t.test('holds no more bytes in memory than it may', async (t) => {
    const world = new PackWorld()
    world.limits = { bytesInMemoryMax: 2048, writesWaitingMax: 1 }
    const store = await world.open()
    const held = deferred()
    const slow = async function* (bytes: Uint8Array) {
      await held.promise
      yield bytes
    }
    const [one = sampleBlob(0), two = sampleBlob(1), three = sampleBlob(2)] = samples(3, 1500)
    const first = store.write(one, slow(one.bytes), one)
    const second = store.write(two, streamOf(two.bytes), two)
    await t.rejects(store.write(three, streamOf(three.bytes), three), { code: 'slow_down' })
    t.equal(await store.stat(two), null)
    held.resolve()
    await Promise.all([first, second])
    await writeAll(store, [three])
    for (const blob of [one, two, three]) t.equal((await store.verify(blob)).checksum, blob.checksum)
  })
})

t.test('ByteBudget lets no caller overtake, and returns the bytes of failed work', async (t) => {
  const budget = new ByteBudget({ bytes: 10, waitersMax: 5 })
  const order: string[] = []
  const [a, b] = [deferred(), deferred()]
  const works = [
    budget.run(6, () => a.promise.then(() => void order.push('a'))),
    budget.run(8, async () => {
      order.push('b')
      await b.promise
      throw new Error('b failed')
    }),
    budget.run(1, async () => void order.push('c')),
  ]
  t.strictSame(order, [], 'a small request behind a large one waits, although it would fit')
  a.resolve()
  await works[0]
  b.resolve()
  await t.rejects(works[1] ?? Promise.resolve(), { message: 'b failed' })
  await works[2]
  t.strictSame(order, ['a', 'b', 'c'])
  await budget.run(10, async () => t.pass('the whole budget is available again'))
  await budget.run(11, async () => t.pass('a request that is too large runs by itself'))
})
