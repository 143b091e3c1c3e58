/**
 * The store of one disk: the contract for every split of sizes between packs and files, and the guarantees of the split itself.
 */
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { HEADER_BYTES } from '../../cluster/blobs/base/blob-header.ts'
import { DiskBlobStore, type DiskBlobStoreOptions } from '../../cluster/blobs/disk/disk-blob-store.ts'
import { type FileOps, systemFileOps } from '../../cluster/base/file-ops.ts'
import type { BlobName } from '../../cluster/base/types.ts'
import { blobStoreContract } from '../port-suites/blob-store.ts'
import { SILENT } from '../helpers/loggers.ts'
import { collect, sampleBlob, streamOf } from './blob-samples.ts'
import { flipBit, placeOf } from './stored-bytes.ts'

async function directoryOf(t: Test): Promise<string> {
  const parent = await mkdtemp(join(tmpdir(), 'holdfast-disk-'))
  t.teardown(() => rm(parent, { recursive: true, force: true }))
  return join(parent, 'blobs')
}

async function openStore(
  t: Test,
  directory: string,
  options: Partial<DiskBlobStoreOptions> = {},
): Promise<DiskBlobStore> {
  const onFatal = (error: Error) => t.fail(error.message)
  const store = new DiskBlobStore({ directory, logger: SILENT, onFatal, ...options })
  await store.open()
  t.teardown(() => store.close())
  return store
}

for (const [spread, fileBytesMin] of [
  ['in packs', Infinity],
  ['in files', 0],
  ['by size', 4096],
] as const) {
  t.test(`DiskBlobStore with everything ${spread}`, (t) =>
    blobStoreContract(t, async (t) => {
      const directory = await directoryOf(t)
      const store = await openStore(t, directory, { fileBytesMin })
      const damage = async (name: BlobName): Promise<void> => {
        const { path, at } = await placeOf(directory, name)
        await flipBit(path, at + 3)
      }
      return { store, damage }
    }),
  )
}

t.test('DiskBlobStore', async (t) => {
  t.test('puts small blobs into packs and large ones into files', async (t) => {
    const directory = await directoryOf(t)
    const store = await openStore(t, directory)
    const [small, large] = [sampleBlob(1, 256 * 1024 - 1), sampleBlob(2, 256 * 1024)]
    for (const blob of [small, large]) await store.write(blob, streamOf(blob.bytes), blob)
    t.match((await placeOf(directory, small)).path, /\.pack$/)
    t.match((await placeOf(directory, large)).path, new RegExp(`${large.id}\\.${large.birth}$`))
  })

  t.test('opens a directory of files only, and leaves each name where it is', async (t) => {
    const directory = await directoryOf(t)
    const blobs = [0, 10, 5000].map((size, seed) => sampleBlob(seed, size))
    const before = await openStore(t, directory, { fileBytesMin: 0 })
    for (const blob of blobs) await before.write(blob, streamOf(blob.bytes), blob)
    await before.close()
    await rm(join(directory, 'packs'), { recursive: true })
    await rm(join(directory, 'pack-index'), { recursive: true })
    const store = await openStore(t, directory)
    for (const blob of blobs) {
      t.equal((await store.verify(blob)).checksum, blob.checksum)
      await store.write(blob, streamOf(blob.bytes), blob)
    }
    t.strictSame(await readdir(join(directory, 'packs')), [])
    t.equal((await store.list(null, 10)).length, 3)
    const [damaged] = blobs.slice(2)
    if (damaged === undefined) throw new Error('three blobs')
    await flipBit((await placeOf(directory, damaged)).path, HEADER_BYTES + 3)
    await store.write(damaged, streamOf(damaged.bytes), damaged)
    t.match((await placeOf(directory, damaged)).path, /\.pack$/, 'a new copy goes where its size leads')
    t.equal((await store.verify(damaged)).checksum, damaged.checksum)
    t.equal((await store.list(null, 10)).length, 3)
  })

  t.test('keeps every blob over a restart, in packs and in files', async (t) => {
    const directory = await directoryOf(t)
    const blobs = [100, 5000, 9000, 3000].map((size, seed) => sampleBlob(seed, size))
    const first = await openStore(t, directory, { fileBytesMin: 4000 })
    for (const blob of blobs) await first.write(blob, streamOf(blob.bytes), blob)
    await first.close()
    const second = await openStore(t, directory, { fileBytesMin: 8000 })
    for (const blob of blobs) {
      await second.write(blob, streamOf(blob.bytes), blob)
      const bytes = await collect(second.read(blob, 1, blob.size))
      t.ok(Buffer.from(bytes).equals(blob.bytes.subarray(1)))
    }
    t.equal((await second.list(null, 10)).length, 4)
  })

  t.test('writes more blobs at once than one system call takes pieces', async (t) => {
    const store = await openStore(t, await directoryOf(t))
    const blobs = Array.from({ length: 1500 }, (_, seed) => sampleBlob(seed, 10))
    await Promise.all(blobs.map((blob) => store.write(blob, streamOf(blob.bytes), blob)))
    const verdicts = await Promise.all(blobs.map((blob) => store.verify(blob)))
    t.ok(verdicts.every(({ checksum }, at) => checksum === blobs[at]?.checksum))
  })

  t.test('removes a name from packs and from files', async (t) => {
    const directory = await directoryOf(t)
    const store = await openStore(t, directory, { fileBytesMin: 4000 })
    const blobs = [100, 5000, 3000].map((size, seed) => sampleBlob(seed, size))
    for (const blob of blobs) await store.write(blob, streamOf(blob.bytes), blob)
    await store.remove(blobs)
    t.strictSame(await store.list(null, 10), [])
  })

  t.test('closes after a failed flush, and can be opened again', async (t) => {
    const directory = await directoryOf(t)
    let isFailing = false
    const fatal: Error[] = []
    const fileOps: FileOps = {
      ...systemFileOps,
      syncFile: (file) => (isFailing ? Promise.reject(new Error('EIO')) : systemFileOps.syncFile(file)),
    }
    const store = await openStore(t, directory, { fileOps, onFatal: (error) => fatal.push(error) })
    const [before, during] = [sampleBlob(1), sampleBlob(2)]
    await store.write(before, streamOf(before.bytes), before)
    isFailing = true
    await t.rejects(store.write(during, streamOf(during.bytes), during), { code: 'store_failed' })
    await store.close()
    t.equal(fatal.length, 1)
    const again = await openStore(t, directory)
    t.equal((await again.verify(before)).checksum, before.checksum)
  })
})
