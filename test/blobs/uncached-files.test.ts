/**
 * Proofs of files that are written without the page cache: the contract, the ends of blocks, what is compared, disks without such writes.
 */
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { crc32c } from '@node-rs/crc32'
import t from 'tap'
import { BlockMemories } from '../../cluster/base/block-memory.ts'
import { type FileOps, type OpenFile, systemFileOps } from '../../cluster/base/file-ops.ts'
import { HEADER_BYTES } from '../../cluster/blobs/base/blob-header.ts'
import { WholeBytes } from '../../cluster/blobs/base/whole-bytes.ts'
import { blobStoreContract } from '../port-suites/blob-store.ts'
import { flipped, sampleBlob, streamOf } from './blob-samples.ts'
import { directoryOf, flipBit, openStore, pathOf, systemError } from './file-store-world.ts'

t.test('FileBlobStore without the page cache', async (t) => {
  const EVERY = { directIoFromBytes: 0 }

  t.test('keeps the contract', (t) =>
    blobStoreContract(t, async (t) => {
      const directory = await directoryOf(t)
      const store = await openStore(directory, EVERY)
      return { store, damage: (name) => flipBit(pathOf(directory, name), HEADER_BYTES + 3) }
    }),
  )

  t.test('a file has the bytes of its blob and no more, in whatever pieces they come', async (t) => {
    const directory = await directoryOf(t)
    const store = await openStore(directory, EVERY)
    // Around the ends of blocks and of the memory of a write, with the header in front.
    for (const size of [0, 1, 3840, 3841, 524_032, 524_033, 1_300_001]) {
      const blob = sampleBlob(size, size)
      const cuts = [0, 5, 70_000, 70_001, 600_000, size].filter((cut) => cut <= size)
      const pieces = cuts.slice(1).map((cut, n) => blob.bytes.subarray(cuts[n], cut))
      await store.writeNew(blob, streamOf(...pieces), blob)
      const other = { ...blob, birth: 'whole' }
      await store.writeNew(other, new WholeBytes(blob.bytes), { ...blob, crc32c: crc32c(blob.bytes) })
      for (const name of [blob, other]) {
        t.equal((await stat(pathOf(directory, name))).size, HEADER_BYTES + size)
        t.equal((await store.verify(name)).checksum, blob.checksum)
      }
    }
    t.strictSame(await readdir(join(directory, 'tmp')), [])
  })

  t.test('nothing but whole blocks is written, and the length is set before the flush', async (t) => {
    const directory = await directoryOf(t)
    const steps: (string | number)[] = []
    const fileOps: FileOps = {
      ...systemFileOps,
      append: (file, pieces) => {
        steps.push(...pieces.map(({ length }) => length))
        return systemFileOps.append(file, pieces)
      },
      truncate: (file, length) => (steps.push(`end at ${length}`), systemFileOps.truncate(file, length)),
      syncFile: (file) => (steps.push('flush'), systemFileOps.syncFile(file)),
    }
    const store = await openStore(directory, { ...EVERY, fileOps })
    const blob = sampleBlob(1, 600_000)
    await store.writeNew(blob, streamOf(blob.bytes), blob)
    t.strictSame(steps, [524_288, 77_824, 'end at 600256', 'flush'])
  })

  t.test('the bytes that are written are compared, also those behind the first write', async (t) => {
    const directory = await directoryOf(t)
    const store = await openStore(directory, EVERY)
    const blob = { ...sampleBlob(1, 600_000), crc32c: crc32c(sampleBlob(1, 600_000).bytes) }
    for (const at of [0, 530_000, 599_999])
      await t.rejects(store.writeNew(blob, streamOf(flipped(blob.bytes, at)), blob), {
        code: 'checksum_mismatch',
      })
    await t.rejects(store.writeNew(blob, streamOf(blob.bytes, Buffer.of(1)), blob), { code: 'size_mismatch' })
    await t.rejects(store.writeNew(blob, streamOf(blob.bytes.subarray(1)), blob), { code: 'size_mismatch' })
    t.strictSame(await readdir(join(directory, 'tmp')), [])
    t.equal(await store.stat(blob), null)
  })

  t.test('a disk without such writes is asked once, and takes blobs through the cache', async (t) => {
    const directory = await directoryOf(t)
    let asked = 0
    const createUncached = async (): Promise<null> => {
      asked += 1
      return null
    }
    const store = await openStore(directory, { ...EVERY, fileOps: { ...systemFileOps, createUncached } })
    for (const blob of [sampleBlob(1), sampleBlob(2)]) {
      await store.writeNew(blob, streamOf(blob.bytes), blob)
      t.equal((await store.verify(blob)).checksum, blob.checksum)
    }
    t.equal(asked, 1)
  })

  t.test('a disk with larger blocks fails one write, and takes the next through the cache', async (t) => {
    const directory = await directoryOf(t)
    let refused = 0
    const createUncached = async (path: string): Promise<OpenFile> => {
      const file = await systemFileOps.create(path)
      const writev = (): Promise<never> => {
        refused += 1
        return Promise.reject(systemError('EINVAL'))
      }
      return Object.assign(Object.create(file) as OpenFile, { writev, close: () => file.close() })
    }
    const store = await openStore(directory, { ...EVERY, fileOps: { ...systemFileOps, createUncached } })
    const blob = sampleBlob(1)
    await t.rejects(store.writeNew(blob, streamOf(blob.bytes), blob), { code: 'io_error' })
    await store.writeNew(blob, streamOf(blob.bytes), blob)
    t.equal((await store.verify(blob)).checksum, blob.checksum)
    t.equal(refused, 1)
  })

  t.test('is asked only for large blobs', async (t) => {
    const directory = await directoryOf(t)
    let asked = 0
    const createUncached: FileOps['createUncached'] = (path) => {
      asked += 1
      return systemFileOps.createUncached(path)
    }
    const store = await openStore(directory, { fileOps: { ...systemFileOps, createUncached } })
    for (const size of [1000, 1024 * 1024 - 1, 1024 * 1024]) {
      const blob = sampleBlob(size, size)
      await store.writeNew(blob, streamOf(blob.bytes), blob)
    }
    t.equal(asked, 1)
  })
})

t.test('memory of blocks is used again, and what is too much goes back', async (t) => {
  const memories = new BlockMemories(8192, 1)
  const [one, other] = [memories.take(), memories.take()]
  t.equal(one.length, 8192)
  memories.giveBack(one)
  memories.giveBack(other)
  t.equal(memories.take(), one)
  t.equal(other.length, 0)
  t.not(memories.take(), one)
})
