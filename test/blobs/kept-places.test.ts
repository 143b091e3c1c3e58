/**
 * Places that the index of packs keeps in memory: no row is asked for them, and none of them is outdated.
 */
import t from 'tap'
import { BlobMissingError } from '../../cluster/base/types.ts'
import { FlushGuard } from '../../cluster/blobs/files/flush-guard.ts'
import { PackIndex } from '../../cluster/blobs/packs/pack-index.ts'
import { deferred } from '../helpers/async.ts'
import { collect, sampleBlob, streamOf } from './blob-samples.ts'
import { MemoryRows } from './memory-rows.ts'
import { PackWorld } from './pack-world.ts'

/** Counts the rows that are asked for alone. The next question, and each write, waits for its gate after it began. */
class CountingRows extends MemoryRows {
  asked = 0
  gate: Promise<void> | null = null
  onWrite: () => Promise<void> = async () => undefined

  override async get(key: string): Promise<Uint8Array | undefined> {
    this.asked++
    const [row, gate] = [this.rows.get(key), this.gate]
    this.gate = null
    await gate
    return row
  }

  override async write(changes: ReadonlyMap<string, Uint8Array | null>): Promise<void> {
    await this.onWrite()
    await super.write(changes)
  }
}

async function bench() {
  const [world, rows] = [new PackWorld(), new CountingRows()]
  world.rows = rows
  // A pack for each record, so that each removal is followed by a compaction.
  world.limits = { packBytesMax: 2_048 }
  const store = await world.open()
  return { world, rows, store }
}

t.test('PackIndex', async (t) => {
  t.test('asks no row for what was written or read before', async (t) => {
    const { world, rows, store } = await bench()
    const blob = sampleBlob(1)
    await store.writeNew(blob, streamOf(blob.bytes), blob)
    await store.list(null, 1)
    rows.asked = 0
    t.strictSame(await collect(store.read(blob, 0, blob.size)), blob.bytes)
    t.equal(rows.asked, 0, 'its row was written by this process')
    await store.close()
    const again = await world.open()
    rows.asked = 0
    for (let times = 0; times < 3; times++) await again.verify(blob)
    t.equal(rows.asked, 1)
  })

  t.test('keeps no place of a copy that was removed, moved or written again', async (t) => {
    const { rows, store } = await bench()
    const [blob, other] = [sampleBlob(1), sampleBlob(2)]
    const verified = async () => (await store.verify(blob)).checksum
    for (const one of [blob, other]) await store.writeNew(one, streamOf(one.bytes), one)
    await store.list(null, 1)
    t.equal(await verified(), blob.checksum)
    await store.writeNew(blob, streamOf(blob.bytes), blob)
    await store.list(null, 1)
    while (await store.compact());
    t.equal(await verified(), blob.checksum, 'its first pack is gone')
    await store.remove([blob])
    await t.rejects(verified(), BlobMissingError)
    await store.list(null, 1)
    await t.rejects(verified(), BlobMissingError)
    await store.write(blob, streamOf(blob.bytes), blob)
    t.equal(await verified(), blob.checksum)
    t.ok(rows.asked > 0)
  })

  t.test('keeps no row that was asked for before a change', async (t) => {
    const { world, rows, store } = await bench()
    const blob = sampleBlob(1)
    await store.writeNew(blob, streamOf(blob.bytes), blob)
    await store.close()
    const again = await world.open()
    const held = deferred()
    rows.gate = held.promise
    const early = again.stat(blob)
    await again.remove([blob])
    held.resolve()
    await early
    t.equal(await again.stat(blob), null)
  })

  t.test('keeps no place that was given up while its row was written', async (t) => {
    const rows = new CountingRows()
    const index = new PackIndex(rows, new FlushGuard(() => undefined))
    await index.open()
    const [writing, held] = [deferred(), deferred()]
    rows.onWrite = () => {
      writing.resolve()
      return held.promise
    }
    const place = { pack: 1, offset: 1_024, size: 1 }
    index.put('name', place, null)
    const flushed = index.flush()
    await writing.promise
    index.remove('name', place)
    held.resolve()
    await flushed
    await index.flush()
    t.equal(await index.lookup('name'), null)
  })

  t.test('keeps a bounded number of places', async (t) => {
    const rows = new CountingRows()
    const index = new PackIndex(rows, new FlushGuard(() => undefined))
    await index.open()
    rows.asked = 0
    for (let n = 0; n < 20_000; n++) index.put(`name-${n}`, { pack: 1, offset: 512 * n, size: 1 }, null)
    await index.flush()
    t.equal((await index.lookup('name-19999'))?.offset, 512 * 19_999)
    t.equal(rows.asked, 0)
    t.equal((await index.lookup('name-0'))?.offset, 0)
    t.equal(rows.asked, 1, 'the oldest one was given up')
  })
})
