/**
 * Compaction: which packs are worth it, which records move, which are quarantined, and what may interrupt it.
 */
import t from 'tap'
import type { FileOps } from '../../cluster/base/file-ops.ts'
import { packToCompact } from '../../cluster/blobs/packs/compaction-choice.ts'
import { decodeTotals, encodeTotals, NO_TOTALS, packKey } from '../../cluster/blobs/packs/index-rows.ts'
import { PACK_HEAD_BYTES } from '../../cluster/blobs/packs/pack-record.ts'
import { Throttle } from '../../cluster/repair/throttle.ts'
import { BlobMissingError } from '../../cluster/base/types.ts'
import { VirtualClock } from '../programs/simulator/virtual-clock.ts'
import { collect, sampleBlob, sha256, streamOf } from './blob-samples.ts'
import { MemoryRows } from './memory-rows.ts'
import { PackWorld, writeAll } from './pack-world.ts'

const LIMITS = { garbageMin: 0.5, smallPacksMax: 2, packBytesMax: 80_000 }

t.test('packToCompact', async (t) => {
  const use = (pack: number, liveBytes: number, bytes = 50_000) => ({
    pack,
    bytes: bytes + PACK_HEAD_BYTES,
    liveBytes,
  })
  t.equal(packToCompact([], LIMITS), null)
  t.equal(packToCompact([use(1, 26_000), use(2, 50_000)], LIMITS), null, 'not enough garbage')
  t.equal(packToCompact([use(1, 25_000), use(2, 20_000), use(3, 50_000)], LIMITS), 2, 'the most garbage')
  t.equal(
    packToCompact([use(1, 25_000), use(2, 0, 512)], LIMITS),
    2,
    'a pack without live records costs nothing',
  )
  const small = [use(1, 5_000, 5_000), use(2, 4_000, 4_000), use(3, 6_000, 6_000)]
  t.equal(packToCompact(small.slice(0, 2), LIMITS), null)
  t.equal(packToCompact(small, LIMITS), 2, 'the smallest of too many small packs')
  const packs = [use(1, 25_000), use(2, 20_000), use(3, 0, 50)]
  t.equal(packToCompact(packs.slice(0, 2), LIMITS, 20_000), 2, 'its live records fit exactly')
  t.equal(packToCompact([use(1, 20_001), use(2, 25_000)], LIMITS, 20_000), null, 'none fits')
  t.equal(packToCompact(packs, LIMITS, 0), 3, 'a pack without live records takes no space')
})

const TEN = Array.from({ length: 10 }, (_, seed) => sampleBlob(seed, 100 * seed))

/** Ten blobs in the first pack, and a second pack to write to. */
async function worldWithGarbage(removed = TEN.slice(0, 7)) {
  const world = new PackWorld()
  const first = await world.open()
  await writeAll(first, TEN)
  await first.close()
  const store = await world.open()
  await store.remove(removed)
  return { world, store, kept: TEN.filter((blob) => !removed.includes(blob)) }
}

t.test('a compaction', async (t) => {
  t.test('moves live records, and unlinks the pack', async (t) => {
    const { world, store, kept } = await worldWithGarbage()
    t.ok(await store.compact())
    t.notOk(await store.compact(), 'no other pack is worth compacting')
    t.match(world.packs(), [/0000000002\.pack$/])
    for (const blob of kept) t.equal((await store.verify(blob)).checksum, blob.checksum)
    world.rows = new MemoryRows()
    t.equal(
      (await (await world.open()).list(null, 20)).length,
      kept.length,
      'nothing removed is in the new pack',
    )
  })

  t.test('quarantines records with a damaged header or damaged bytes, and copies neither', async (t) => {
    const { world, store, kept } = await worldWithGarbage()
    const [header = sampleBlob(0), bytes = sampleBlob(0), good = sampleBlob(0)] = kept
    world.damage(header, 'header')
    world.damage(bytes, 'bytes')
    t.ok(await store.compact())
    for (const blob of [header, bytes]) {
      await t.rejects(store.verify(blob), BlobMissingError)
      t.ok(world.quarantined().some((path) => path.includes(blob.id)))
    }
    t.equal((await store.verify(good)).checksum, good.checksum)
    const reported = world.logged.filter(
      ({ message }) => message === 'damaged blob quarantined while compacting',
    )
    t.equal(reported.length, 2)
  })

  t.test('keeps the old record when the new one does not read back', async (t) => {
    const { world, store, kept } = await worldWithGarbage()
    world.files.beforeChange = (operation, _count, path) => {
      if (operation !== 'fdatasync' || !path.endsWith('2.pack')) return
      // The disk loses the sector after the heads.
      const bytes = world.files.bytesOf(path)
      bytes.fill(0, Math.min(PACK_HEAD_BYTES, bytes.length), Math.min(PACK_HEAD_BYTES + 512, bytes.length))
    }
    await t.rejects(store.compact(), { name: 'BlobDamagedError' })
    world.files.beforeChange = () => undefined
    t.match(world.packs(), [/1\.pack$/, /2\.pack$/])
    t.same(world.quarantined(), [])
    for (const blob of kept) t.equal((await store.verify(blob)).checksum, blob.checksum)
  })

  t.test('lets a reader of the old pack finish, and a new reader find the new place', async (t) => {
    const big = sampleBlob(50, 700_000)
    const world = new PackWorld()
    const first = await world.open()
    await writeAll(first, [big, sampleBlob(51, 900_000)])
    await first.close()
    const store = await world.open()
    await store.remove([sampleBlob(51)])
    const reader = store.read(big, 0, big.size)[Symbol.asyncIterator]()
    const head = (await reader.next()).value ?? new Uint8Array()
    t.ok(await store.compact())
    const rest = await collect({ [Symbol.asyncIterator]: () => reader })
    t.equal(sha256(Buffer.concat([head, rest])), big.checksum)
    t.equal(sha256(await collect(store.read(big, 0, big.size))), big.checksum)
  })

  t.test('does not fail a reader that looked the record up before it moved', async (t) => {
    const { world, store, kept } = await worldWithGarbage()
    const [blob = sampleBlob(0)] = kept
    const rows = world.rows as MemoryRows
    const get = rows.get.bind(rows)
    rows.get = async (key) => {
      const row = await get(key)
      rows.get = get
      t.ok(await store.compact())
      return row
    }
    t.equal((await store.verify(blob)).checksum, blob.checksum)
  })

  t.test('continues with other packs when one is gone', async (t) => {
    const { world, store } = await worldWithGarbage(TEN.slice(0, 9))
    const more = Array.from({ length: 4 }, (_, seed) => sampleBlob(30 + seed))
    await writeAll(store, more)
    await store.close()
    world.files.unlink(world.packs()[0] ?? '')
    const again = await world.open()
    await again.remove(more.slice(0, 3))
    await t.rejects(again.compact(), { code: 'ENOENT' })
    t.ok(await again.compact())
    t.equal((await again.verify(sampleBlob(33))).size, 1000)
    await t.rejects(
      again.verify(sampleBlob(9, 900)),
      { name: 'BlobDamagedError' },
      'and its names are still listed',
    )
  })

  t.test('unlinks no pack because of a wrong count', async (t) => {
    const { world, store } = await worldWithGarbage([])
    await store.close()
    const { rows } = world.rows as MemoryRows
    const totals = decodeTotals(packKey(1), rows.get(packKey(1)) ?? new Uint8Array()) ?? NO_TOTALS
    t.equal(totals.records, 10)
    rows.set(packKey(1), encodeTotals(packKey(1), { ...totals, records: 0, bytes: 0 }))
    const again = await world.open()
    for (const blob of TEN) t.equal((await again.verify(blob)).checksum, blob.checksum)
    await again.close()
    const third = await world.open()
    for (const blob of TEN) t.equal((await third.verify(blob)).checksum, blob.checksum)
  })

  t.test('does not restore a copy that is removed while its record moves', async (t) => {
    const { world, store, kept } = await worldWithGarbage()
    const [gone = sampleBlob(0)] = kept
    const removals: Promise<void>[] = []
    world.files.beforeChange = (operation) => {
      if (operation === 'fdatasync' && removals.length < 4) removals.push(store.remove([gone]))
    }
    t.ok(await store.compact())
    await Promise.all(removals)
    t.equal(await store.stat(gone), null)
    t.equal((await store.list(null, 10)).length, kept.length - 1)
  })

  t.test(
    'neither restores copies that are removed nor loses copies that are written while it runs',
    async (t) => {
      const { world, store, kept } = await worldWithGarbage()
      const [gone = sampleBlob(0), ...still] = kept
      const fresh = sampleBlob(70)
      const write = store.write(fresh, streamOf(fresh.bytes), fresh)
      await Promise.all([store.compact(), store.remove([gone]), write])
      await store.close()
      const again = await world.open()
      for (const blob of [fresh, ...still]) t.equal((await again.verify(blob)).checksum, blob.checksum)
      await t.rejects(again.verify(gone), BlobMissingError)
    },
  )

  t.test(
    'ends at the next group of records when the store is closed, with every record readable',
    async (t) => {
      const world = new PackWorld()
      const blobs = Array.from({ length: 200 }, (_, seed) => sampleBlob(seed, 300))
      const first = await world.open()
      await Promise.all(blobs.map((blob) => first.write(blob, streamOf(blob.bytes), blob)))
      await first.close()
      const store = await world.open()
      await store.remove(blobs.slice(80))
      let paced = 0
      const closed: Promise<void>[] = []
      world.pace = async () => {
        if (++paced === 40) closed.push(store.close())
      }
      t.notOk(await store.compact())
      await Promise.all(closed)
      t.equal(paced, 64, 'no group is started after that')
      t.equal(world.packs().length, 2)
      const again = await world.open()
      for (const blob of blobs.slice(0, 80)) t.equal((await again.verify(blob)).checksum, blob.checksum)
      t.ok(await again.compact(), 'the compaction resumes')
    },
  )

  t.test('moves nothing without free space, and continues later', async (t) => {
    const { world, store, kept } = await worldWithGarbage()
    world.files.beforeChange = (operation) => {
      if (operation === 'write') throw Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' })
    }
    await t.rejects(store.compact(), { code: 'disk_full' })
    world.files.beforeChange = () => undefined
    for (const blob of kept) t.equal((await store.verify(blob)).checksum, blob.checksum)
    t.ok(await store.compact())
    for (const blob of kept) t.equal((await store.verify(blob)).checksum, blob.checksum)
  })

  t.test(
    'loses nothing when the disk fills up while it runs, and continues once there is space',
    async (t) => {
      const world = new PackWorld()
      const blobs = Array.from({ length: 200 }, (_, seed) => sampleBlob(seed, 300))
      const first = await world.open()
      await writeAll(first, blobs)
      await first.close()
      const store = await world.open()
      await store.remove(blobs.slice(80))
      const kept = blobs.slice(0, 80)
      let writes = 0
      world.files.beforeChange = (operation) => {
        if (operation === 'write' && ++writes > 2)
          throw Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' })
      }
      await t.rejects(store.compact(), { code: 'disk_full' })
      t.ok(writes > 2 && store.isPutOff)
      t.equal(world.packs().length, 2, 'records moved by then stay moved, and the old pack stays')
      for (const blob of kept) t.equal((await store.verify(blob)).checksum, blob.checksum)
      world.files.beforeChange = () => undefined
      t.ok(await store.compact())
      t.notOk(await store.compact())
      t.notOk(store.isPutOff)
      t.equal(world.packs().length, 1)
      for (const blob of kept) t.equal((await store.verify(blob)).checksum, blob.checksum)
      await store.close()
      const again = await world.open()
      for (const blob of kept) t.equal((await again.verify(blob)).checksum, blob.checksum)
    },
  )

  t.test(
    'is postponed while the live records of a pack do not fit, and moves nothing meanwhile',
    async (t) => {
      const { world, store } = await worldWithGarbage()
      world.bytesToSpare = 100
      const before = world.packs()
      t.notOk(await store.compact())
      t.ok(store.isPutOff)
      t.strictSame(world.packs(), before)
      world.bytesToSpare = 100_000
      t.ok(await store.compact())
      t.notOk(await store.compact())
      t.notOk(store.isPutOff)
    },
  )

  t.test('unlinks a pack without live records, however full the disk is', async (t) => {
    const { world, store } = await worldWithGarbage(TEN)
    world.bytesToSpare = 0
    t.ok(await store.compact())
    t.strictSame(world.packs(), [])
  })

  t.test('lets a store close while it waits for its rate', async (t) => {
    const { world, store, kept } = await worldWithGarbage()
    const clock = new VirtualClock()
    const throttle = new Throttle(clock, 1)
    world.pace = (bytes, stopping) => throttle.pass(bytes, stopping)
    const compacted = store.compact()
    await clock.settle()
    await store.close()
    t.notOk(await compacted)
    t.equal(clock.pending, 0)
    const again = await world.open()
    for (const blob of kept) t.equal((await again.verify(blob)).checksum, blob.checksum)
  })

  t.test('counts a read error of the disk as damage of that record only', async (t) => {
    const { world, store } = await worldWithGarbage([])
    await store.close()
    let bad = -1
    world.wrap = (ops): FileOps => ({
      ...ops,
      openForRead: async (path) => {
        const file = await ops.openForRead(path)
        if (!path.endsWith('1.pack')) return file
        const read: typeof file.read = (into, offset, length, position) =>
          position <= bad && bad < position + length
            ? Promise.reject(Object.assign(new Error('EIO'), { code: 'EIO' }))
            : file.read(into, offset, length, position)
        return { ...file, read }
      },
    })
    const again = await world.open()
    const [, hit = sampleBlob(0), ...others] = TEN
    bad = world.placeOf(hit).at + 300
    await t.rejects(again.verify(hit), { name: 'BlobDamagedError' })
    for (const blob of others) t.equal((await again.verify(blob)).checksum, blob.checksum)
    await again.remove(TEN.slice(3))
    t.ok(await again.compact())
    await t.rejects(again.verify(hit), BlobMissingError)
    t.equal(world.quarantined().length, 1, 'the record is kept, as far as it can be read')
  })
})
