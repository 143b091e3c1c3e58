/**
 * Proofs of the store of files: the contract, and what only a disk can do to a blob: crash points, torn files, a
 * failing fsync, a full disk.
 */
import { readdir, readFile, truncate, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import t from 'tap'
import { HEADER_BYTES } from '../../cluster/blobs/base/blob-header.ts'
import { type FileOps, systemFileOps } from '../../cluster/base/file-ops.ts'
import { BlobDamagedError } from '../../cluster/base/types.ts'
import { blobStoreContract } from '../port-suites/blob-store.ts'
import { deferred } from '../helpers/async.ts'
import { collect, sampleBlob, sha256, streamOf } from './blob-samples.ts'
import { directoryOf, flipBit, openStore, pathOf, systemError } from './file-store-world.ts'

t.test('FileBlobStore', (t) =>
  blobStoreContract(t, async (t) => {
    const directory = await directoryOf(t)
    const store = await openStore(directory)
    return { store, damage: (name) => flipBit(pathOf(directory, name), HEADER_BYTES + 3) }
  }),
)

t.test('FileBlobStore on a damaged disk', async (t) => {
  t.test(
    'reports every flipped byte of the header and every wrong length as damage, already in stat',
    async (t) => {
      const directory = await directoryOf(t)
      const store = await openStore(directory)
      const blob = sampleBlob(1, 100)
      await store.write(blob, streamOf(blob.bytes), blob)
      const path = pathOf(directory, blob)
      const intact = await readFile(path)
      for (let at = 0; at < HEADER_BYTES; at += 5) {
        await flipBit(path, at)
        await t.rejects(store.stat(blob), BlobDamagedError, `byte ${at}`)
        await writeFile(path, intact)
      }
      for (const length of [0, 10, HEADER_BYTES, intact.length - 1, intact.length + 1]) {
        await truncate(path, length)
        await t.rejects(store.stat(blob), BlobDamagedError, `${length} bytes`)
        await t.rejects(collect(store.read(blob, 0, 100)), BlobDamagedError)
        await writeFile(path, intact)
      }
      t.strictSame(await store.verify(blob), { size: blob.size, checksum: blob.checksum })
    },
  )

  t.test('never serves one blob under the name of another', async (t) => {
    const directory = await directoryOf(t)
    const store = await openStore(directory)
    const [one, other] = [sampleBlob(1), { ...sampleBlob(1), birth: 'later' }]
    await store.write(one, streamOf(one.bytes), one)
    await writeFile(pathOf(directory, other), await readFile(pathOf(directory, one)))
    await t.rejects(store.stat(other), BlobDamagedError)
  })

  t.test('finds a flipped bit in verify, not in read, which a reader must authenticate itself', async (t) => {
    const directory = await directoryOf(t)
    const store = await openStore(directory)
    const blob = sampleBlob(1)
    await store.write(blob, streamOf(blob.bytes), blob)
    await flipBit(pathOf(directory, blob), HEADER_BYTES + 500)
    t.not(sha256(await collect(store.read(blob, 0, blob.size))), blob.checksum)
    await t.rejects(store.verify(blob), BlobDamagedError)
  })

  t.test('keeps every quarantined copy, also under the same name after a restart', async (t) => {
    const directory = await directoryOf(t)
    const blob = sampleBlob(1)
    for (let round = 0; round < 3; round++) {
      const store = await openStore(directory)
      for (let again = 0; again < 2; again++) {
        await store.write(blob, streamOf(blob.bytes), blob)
        await store.quarantine(blob)
      }
    }
    t.equal((await readdir(join(directory, 'quarantine'))).length, 6)
  })
})

t.test('FileBlobStore after a crash', async (t) => {
  /** The process dies at this step: the step throws, and no later one happens. */
  const dyingAt = (step: 'append' | 'syncFile' | 'rename'): FileOps => {
    let dead = false
    const die = async (): Promise<never> => {
      dead = true
      throw new Error('the process is dead')
    }
    return {
      ...systemFileOps,
      [step]: die,
      unlink: (path) => (dead ? die() : systemFileOps.unlink(path)),
      syncDirectory: (path) => (dead ? die() : systemFileOps.syncDirectory(path)),
    }
  }

  for (const step of ['append', 'syncFile', 'rename'] as const) {
    t.test(`has no such blob and no leftover when the crash came at ${step}`, async (t) => {
      const directory = await directoryOf(t)
      const blob = sampleBlob(1)
      const dying = await openStore(directory, { fileOps: dyingAt(step), onFatal: () => undefined })
      await t.rejects(dying.write(blob, streamOf(blob.bytes), blob))
      t.equal((await readdir(join(directory, 'tmp'))).length, 1, 'the crash left a file')
      const store = await openStore(directory)
      t.strictSame(await readdir(join(directory, 'tmp')), [])
      t.equal(await store.stat(blob), null)
      await store.write(blob, streamOf(blob.bytes), blob)
      t.equal((await store.verify(blob)).checksum, blob.checksum)
    })
  }

  t.test('still has every acknowledged blob', async (t) => {
    const directory = await directoryOf(t)
    const blob = sampleBlob(1)
    await (await openStore(directory)).write(blob, streamOf(blob.bytes), blob)
    t.equal((await (await openStore(directory)).verify(blob)).checksum, blob.checksum)
  })
})

t.test('FileBlobStore durability order', async (t) => {
  t.test(
    'acknowledges after file sync, rename and directory sync, in this order, and a repeated write syncs too',
    async (t) => {
      const directory = await directoryOf(t)
      const steps: string[] = []
      const recorded = <K extends 'syncFile' | 'syncDirectory' | 'rename'>(step: K): FileOps[K] =>
        (async (...args: [never, never]) => {
          await systemFileOps[step](...args)
          steps.push(step)
        }) as FileOps[K]
      const fileOps: FileOps = {
        ...systemFileOps,
        syncFile: recorded('syncFile'),
        syncDirectory: recorded('syncDirectory'),
        rename: recorded('rename'),
      }
      const store = await openStore(directory, { fileOps })
      t.strictSame(
        steps,
        ['syncDirectory', 'syncDirectory'],
        'new directories are durable before the first write',
      )
      steps.length = 0
      const blob = sampleBlob(1)
      await store.write(blob, streamOf(blob.bytes), blob)
      t.strictSame(steps, ['syncFile', 'rename', 'syncDirectory'])
      steps.length = 0
      await store.write(blob, streamOf(blob.bytes), blob)
      t.strictSame(steps, ['syncDirectory'])
    },
  )

  t.test('removes a batch with one flush for each directory, after the last unlink in it', async (t) => {
    const directory = await directoryOf(t)
    const steps: string[] = []
    const fileOps: FileOps = {
      ...systemFileOps,
      unlink: async (path) => {
        await systemFileOps.unlink(path)
        steps.push('unlink')
      },
      syncDirectory: (path) => {
        // Recorded at the start: which flush ends first is undefined.
        steps.push(`flush ${basename(path)}`)
        return systemFileOps.syncDirectory(path)
      },
    }
    const store = await openStore(directory, { fileOps })
    const ids = ['aa', 'bb', 'aa'].map((shard, n) => shard.padEnd(16, String(n)))
    const blobs = ids.map((id, seed) => ({ ...sampleBlob(seed), id }))
    for (const blob of blobs) await store.write(blob, streamOf(blob.bytes), blob)
    steps.length = 0
    await store.remove([...blobs, sampleBlob(9)])
    t.strictSame(steps, ['unlink', 'unlink', 'unlink', 'flush aa', 'flush bb'])
  })

  for (const step of ['syncFile', 'syncDirectory'] as const) {
    t.test(`stops acknowledging permanently, and reports that once, when ${step} fails`, async (t) => {
      const directory = await directoryOf(t)
      const fatal: Error[] = []
      let failing = false
      const sync = (real: () => Promise<void>) => (failing ? Promise.reject(systemError('EIO')) : real())
      const fileOps: FileOps = {
        ...systemFileOps,
        [step]: (target: never) => sync(() => systemFileOps[step](target)),
      }
      const store = await openStore(directory, { fileOps, onFatal: (error) => fatal.push(error) })
      const [before, during, after] = [sampleBlob(1), sampleBlob(2), sampleBlob(3)]
      await store.write(before, streamOf(before.bytes), before)
      failing = true
      await t.rejects(store.write(during, streamOf(during.bytes), during), { code: 'store_failed' })
      failing = false
      await t.rejects(store.write(after, streamOf(after.bytes), after), { code: 'store_failed' })
      await t.rejects(store.write(before, streamOf(before.bytes), before), { code: 'store_failed' })
      t.equal(fatal.length, 1)
      t.match(fatal[0]?.cause, { code: 'EIO' })
      t.equal((await store.verify(before)).checksum, before.checksum, 'a durable blob can still be read')
    })
  }

  t.test("refuses a write in progress when another write's fsync failed", async (t) => {
    const directory = await directoryOf(t)
    const [first, second] = [sampleBlob(1), sampleBlob(2)]
    const [reached, released] = [deferred(), deferred()]
    let syncs = 0
    const fileOps: FileOps = {
      ...systemFileOps,
      syncFile: async (file) => {
        if (++syncs === 2) throw systemError('EIO')
        reached.resolve()
        await released.promise
        await systemFileOps.syncFile(file)
      },
    }
    const store = await openStore(directory, { fileOps, onFatal: () => undefined })
    const slow = store.write(first, streamOf(first.bytes), first)
    slow.catch(() => undefined)
    await reached.promise
    await t.rejects(store.write(second, streamOf(second.bytes), second), { code: 'store_failed' })
    released.resolve()
    await t.rejects(slow, { code: 'store_failed' })
    t.equal(await store.stat(first), null)
  })

  for (const [code, expected] of [
    ['ENOSPC', 'disk_full'],
    ['EDQUOT', 'disk_full'],
    ['EIO', 'io_error'],
  ] as const) {
    t.test(`refuses with ${expected}, leaves nothing and continues when a write meets ${code}`, async (t) => {
      const directory = await directoryOf(t)
      const blob = sampleBlob(1, 600_000)
      const halves = [blob.bytes.subarray(0, 300_000), blob.bytes.subarray(300_000)]
      let appends = 0
      const fileOps: FileOps = {
        ...systemFileOps,
        append: async (file, pieces) => {
          if (++appends === 2) throw systemError(code)
          await systemFileOps.append(file, pieces)
        },
      }
      const store = await openStore(directory, { fileOps })
      await t.rejects(store.write(blob, streamOf(...halves), blob), { code: expected })
      t.strictSame(await readdir(join(directory, 'tmp')), [])
      t.equal(await store.stat(blob), null)
      await store.write(blob, streamOf(blob.bytes), blob)
      t.equal((await store.verify(blob)).checksum, blob.checksum)
    })
  }
})
