/**
 * The effect of a damaged pack, a damaged index and a hostile blob: never wrong bytes, never unreported damage.
 */
import t from 'tap'
import { BlobLayout } from '../../cluster/blobs/files/blob-layout.ts'
import type { Place } from '../../cluster/blobs/packs/index-rows.ts'
import { encodePlace, nameKey } from '../../cluster/blobs/packs/index-rows.ts'
import { OpenPacks } from '../../cluster/blobs/packs/open-packs.ts'
import { verifyPacked } from '../../cluster/blobs/packs/pack-reader.ts'
import {
  decodePackHead,
  decodeRecordHeader,
  encodePackHead,
  encodeRecordHeader,
  PACK_HEAD_BYTES,
  recordBytes,
} from '../../cluster/blobs/packs/pack-record.ts'
import { scanPack } from '../../cluster/blobs/packs/pack-scan.ts'
import { BlobDamagedError, BlobMissingError } from '../../cluster/base/types.ts'
import { collect, type SampleBlob, sampleBlob, sha256, streamOf } from './blob-samples.ts'
import { ROOT } from './crash-world.ts'
import { blobFilesOn } from './memory-blob-files.ts'
import { MemoryRows } from './memory-rows.ts'
import { PackWorld, writeAll } from './pack-world.ts'

const THREE = [sampleBlob(1, 100), sampleBlob(2, 256), sampleBlob(3, 0)]

async function closedWorld(blobs: readonly SampleBlob[]): Promise<PackWorld> {
  const world = new PackWorld()
  const store = await world.open()
  await writeAll(store, blobs)
  await store.close()
  return world
}

t.test('a flipped bit', async (t) => {
  t.test(
    'anywhere in a pack gives right bytes or damage, and does not affect the other records',
    async (t) => {
      const world = await closedWorld(THREE)
      const [path = ''] = world.packs()
      const bytes = world.files.bytesOf(path)
      const places = THREE.map((blob) => ({
        blob,
        place: { pack: 1, offset: world.placeOf(blob).at, size: blob.size } satisfies Place,
      }))
      const packs = new OpenPacks(new BlobLayout(ROOT), blobFilesOn(world.files))
      let damaged = 0
      for (let bit = 0; bit < bytes.length * 8; bit++) {
        const at = bit >> 3
        bytes[at] = (bytes[at] ?? 0) ^ (1 << (bit & 7))
        const pack = await packs.acquire(1)
        for (const { blob, place } of places) {
          const isHit = at >= place.offset && at < place.offset + recordBytes(blob.size)
          const verdict = await verifyPacked({ name: blob, place, pack }).then(
            ({ checksum }) => checksum === blob.checksum && 'right',
            (error: unknown) => error instanceof BlobDamagedError && 'damaged',
          )
          if (verdict === 'damaged') damaged++
          if (verdict !== 'right' && !(verdict === 'damaged' && isHit)) t.fail(`bit ${bit}: ${verdict}`)
        }
        pack.release()
        packs.forget(1)
        bytes[at] = (bytes[at] ?? 0) ^ (1 << (bit & 7))
      }
      // Headers and bytes; padding belongs to no record.
      t.equal(
        damaged,
        THREE.reduce((bits, { size }) => bits + 8 * (256 + size), 0),
      )
    },
  )

  t.test('in a head or a header hides no other record from a scan', async (t) => {
    const world = await closedWorld(THREE)
    const [path = ''] = world.packs()
    const intact = Buffer.from(world.files.bytesOf(path))
    const starts = THREE.map((blob) => world.placeOf(blob).at)
    const headers = starts.flatMap((start) => Array.from({ length: 256 }, (_, at) => start + at))
    for (const at of [...Array(PACK_HEAD_BYTES).keys(), ...headers]) {
      const bytes = world.files.bytesOf(path)
      intact.copy(bytes)
      bytes[at] = (bytes[at] ?? 0) ^ (1 << (at & 7))
      const frame = decodePackHead(1, bytes.subarray(0, PACK_HEAD_BYTES))
      if (frame === null) return t.fail(`byte ${at}: no head`)
      const found: string[] = []
      const file = await blobFilesOn(world.files).openForRead(path)
      for await (const group of scanPack(file, frame, 0)) {
        for (const { name } of group.records) found.push(name.id)
      }
      const expected = THREE.filter((_, n) => !(at >= (starts[n] ?? 0) && at < (starts[n] ?? 0) + 256))
      if (found.join() !== expected.map(({ id }) => id).join()) t.fail(`byte ${at}: finds ${found.length}`)
    }
    t.pass('all bytes tried')
  })
})

t.test('a header is valid only at its own place, in its own pack and under its own salt', async (t) => {
  const frame = { pack: 3, salt: new Uint8Array(16).fill(7) }
  const record = { offset: 2048, batch: 2, batchOffset: 1536, name: sampleBlob(1), content: sampleBlob(1) }
  const header = encodeRecordHeader(frame, record)
  t.match(decodeRecordHeader(frame, 2048, header), { offset: 2048, batch: 2, batchOffset: 1536 })
  t.equal(decodeRecordHeader(frame, 2560, header), null)
  t.equal(decodeRecordHeader({ ...frame, pack: 4 }, 2048, header), null)
  t.equal(decodeRecordHeader({ ...frame, salt: new Uint8Array(16) }, 2048, header), null)
  const head = encodePackHead(frame)
  t.strictSame(decodePackHead(3, head), frame)
  t.equal(decodePackHead(4, head), null)
})

t.test('a store of packs', async (t) => {
  t.test('never takes bytes of a blob for a record, even a copied record of another pack', async (t) => {
    const world = await closedWorld(THREE)
    const [path = ''] = world.packs()
    const stolen = Buffer.from(world.files.bytesOf(path).subarray(1024, 1024 + 512))
    const forged = sampleBlob(7, 10)
    const frame = { pack: 2, salt: new Uint8Array(16) }
    const header = encodeRecordHeader(frame, {
      offset: 1024 + 512,
      batch: 1,
      batchOffset: 1024,
      name: forged,
      content: forged,
    })
    const bytes = new Uint8Array(Buffer.concat([Buffer.alloc(256), header, Buffer.alloc(256), stolen]))
    const trap = { ...sampleBlob(8), bytes, size: bytes.length, checksum: sha256(bytes) }
    const store = await world.open()
    await writeAll(store, [trap, sampleBlob(9)])
    // The header of the trap is lost, so a scan reads through its bytes.
    world.damage(trap, 'header')
    world.rows = new MemoryRows()
    const again = await world.open()
    t.equal(await again.stat(forged), null)
    t.equal((await again.verify(sampleBlob(9))).size, 1000)
    for (const blob of THREE) t.equal((await again.verify(blob)).checksum, blob.checksum)
    t.ok(world.logged.some(({ message }) => message === 'pack of blobs has unreadable places'))
  })

  t.test('quarantines a damaged pack as a whole when it is emptied, instead of unlinking it', async (t) => {
    const world = await closedWorld(THREE)
    world.damage(sampleBlob(1, 100), 'header')
    world.rows = new MemoryRows()
    const store = await world.open()
    await t.rejects(store.verify(sampleBlob(1, 100)), BlobMissingError)
    await store.remove(THREE)
    t.ok(await store.compact())
    t.same(world.packs(), [])
    t.match(world.quarantined(), [/1\.pack\.0$/])
  })

  t.test('reports damage for every record of a pack that has lost both heads, or is gone', async (t) => {
    for (const harm of ['heads', 'file'] as const) {
      const world = await closedWorld(THREE)
      const [path = ''] = world.packs()
      if (harm === 'heads') world.files.bytesOf(path).fill(0, 0, PACK_HEAD_BYTES)
      else world.files.unlink(path)
      const store = await world.open()
      for (const blob of THREE) await t.rejects(store.verify(blob), BlobDamagedError, harm)
      t.equal((await store.list(null, 10)).length, 3, 'the names are still listed')
      await writeAll(store, THREE)
      for (const blob of THREE) t.equal((await store.verify(blob)).checksum, blob.checksum)
    }
  })

  t.test(
    'serves the newest record of a name when an older one is damaged and the index is lost',
    async (t) => {
      const world = await closedWorld([])
      const store = await world.open()
      const [blob = sampleBlob(1)] = THREE
      await writeAll(store, [blob])
      world.damage(blob, 'bytes')
      await writeAll(store, [blob, sampleBlob(5)])
      t.equal(world.quarantined().length, 1)
      await store.close()
      world.rows = new MemoryRows()
      t.equal((await (await world.open()).verify(blob)).checksum, blob.checksum)
    },
  )
})

t.test('a damaged index', async (t) => {
  const flipped = (row: Uint8Array): Uint8Array => row.map((byte, at) => (at === 6 ? byte ^ 1 : byte))
  const keyOf = ({ id, birth }: SampleBlob): string => nameKey(`${id}.${birth}`)
  const rowsOf = (world: PackWorld): Map<string, Uint8Array> => (world.rows as MemoryRows).rows

  t.test(
    'is reported as damage of the copy while the store runs, and is rebuilt by the next start',
    async (t) => {
      const world = await closedWorld(THREE)
      const [blob = sampleBlob(1)] = THREE
      const rows = rowsOf(world)
      rows.set(keyOf(blob), flipped(rows.get(keyOf(blob)) ?? new Uint8Array()))
      const store = await world.open()
      await t.rejects(store.verify(blob), BlobDamagedError)
      await t.rejects(store.stat(blob), BlobDamagedError)
      await store.close()
      const again = await world.open()
      t.ok(world.logged.some(({ message }) => message === 'index of packs is wrong and is rebuilt'))
      t.equal((await again.verify(blob)).checksum, blob.checksum)
    },
  )

  t.test('leads to damage, never to the bytes of another blob', async (t) => {
    const world = await closedWorld(THREE)
    const [blob = sampleBlob(1), other = sampleBlob(2)] = THREE
    const place = { pack: 1, offset: world.placeOf(other).at, size: other.size }
    rowsOf(world).set(keyOf(blob), encodePlace(keyOf(blob), place))
    const store = await world.open()
    await t.rejects(store.verify(blob), BlobDamagedError)
    await t.rejects(collect(store.read(blob, 0, 10)), BlobDamagedError)
    t.equal((await store.verify(other)).checksum, other.checksum)
  })

  for (const [harm, change] of [
    ['a row is gone', (rows: Map<string, Uint8Array>, key: string) => rows.delete(key)],
    [
      'a row is outdated',
      (rows: Map<string, Uint8Array>, key: string) =>
        rows.set(key, rows.get(keyOf(sampleBlob(2, 256))) ?? new Uint8Array()),
    ],
    [
      'the totals of a pack are flipped',
      (rows: Map<string, Uint8Array>) => {
        const key = [...rows.keys()].find((one) => one.startsWith('p')) ?? ''
        rows.set(key, flipped(rows.get(key) ?? new Uint8Array()))
      },
    ],
  ] as const) {
    t.test(`is detected after an unclean stop when ${harm}, and loses no name`, async (t) => {
      const world = new PackWorld()
      const store = await world.open()
      await writeAll(store, THREE)
      await store.list(null, 1)
      change(rowsOf(world), keyOf(sampleBlob(1, 100)))
      const again = await world.open()
      for (const blob of THREE) t.equal((await again.verify(blob)).checksum, blob.checksum)
      t.equal((await again.list(null, 10)).length, 3)
    })
  }

  t.test('lets a copy that cannot be found be quarantined and written again', async (t) => {
    const world = await closedWorld(THREE)
    const [blob = sampleBlob(1)] = THREE
    rowsOf(world).set(keyOf(blob), new Uint8Array(3))
    const store = await world.open()
    await store.write(blob, streamOf(blob.bytes), blob)
    t.equal((await store.verify(blob)).checksum, blob.checksum)
  })
})
