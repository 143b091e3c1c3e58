/**
 * The directory of the blobs vanishes between the calls of a write: nothing is acknowledged, and the store continues.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { DiskBlobStore } from '../../cluster/blobs/disk/disk-blob-store.ts'
import { type FileOps, systemFileOps } from '../../cluster/base/file-ops.ts'
import { FlushGuard } from '../../cluster/blobs/files/flush-guard.ts'
import { SILENT } from '../helpers/loggers.ts'
import { sampleBlob, streamOf } from './blob-samples.ts'

type Call = 'create' | 'syncFile' | 'rename' | 'syncDirectory'

async function openStore(t: Test, isFile: boolean) {
  const parent = await mkdtemp(join(tmpdir(), 'holdfast-gone-'))
  const directory = join(parent, 'blobs')
  const vanish = { before: null as Call | null }
  const before = async (call: Call): Promise<void> => {
    if (vanish.before !== call) return
    vanish.before = null
    await rm(directory, { recursive: true })
  }
  const fileOps: FileOps = {
    ...systemFileOps,
    create: async (path) => (await before('create'), systemFileOps.create(path)),
    syncFile: async (file) => (await before('syncFile'), systemFileOps.syncFile(file)),
    rename: async (from, to) => (await before('rename'), systemFileOps.rename(from, to)),
    syncDirectory: async (path) => (await before('syncDirectory'), systemFileOps.syncDirectory(path)),
  }
  const onFatal = (error: Error) => t.fail(error.message)
  const store = new DiskBlobStore({
    directory,
    logger: SILENT,
    onFatal,
    fileOps,
    fileBytesMin: isFile ? 0 : 1e9,
  })
  await store.open()
  t.teardown(async () => {
    await store.close()
    await rm(parent, { recursive: true, force: true })
  })
  return { store, vanish }
}

t.test('a blob directory that vanishes', async (t) => {
  const cases: readonly (readonly [where: string, call: Call])[] = [
    ['file', 'create'],
    ['file', 'syncFile'],
    ['file', 'rename'],
    ['file', 'syncDirectory'],
    ['pack', 'create'],
    ['pack', 'syncFile'],
    ['pack', 'syncDirectory'],
  ]
  for (const [where, call] of cases) {
    t.test(
      `before ${call} of a ${where}: the write fails, and the next one succeeds once it is opened again`,
      async (t) => {
        const { store, vanish } = await openStore(t, where === 'file')
        const [lost, next] = [sampleBlob(1), sampleBlob(2)]
        vanish.before = call
        await t.rejects(store.write(lost, streamOf(lost.bytes), lost), {
          name: 'BlobWriteError',
          code: 'io_error',
        })
        t.equal(vanish.before, null, 'it has vanished')
        await store.reopen()
        t.equal(await store.stat(lost), null)
        for (const blob of [lost, next]) {
          await store.write(blob, streamOf(blob.bytes), blob)
          t.equal((await store.verify(blob)).checksum, blob.checksum)
        }
      },
    )
  }

  t.test('is distinguished from a failed flush: any other error of a flush ends all writes', async (t) => {
    for (const about of [
      { code: 'ENOENT', syscall: 'fsync' },
      { code: 'EIO', syscall: 'open' },
      { code: 'ENOENT' },
    ]) {
      const fatal: Error[] = []
      const guard = new FlushGuard((error) => fatal.push(error))
      const flush = async () => {
        throw Object.assign(new Error('injected'), about)
      }
      await t.rejects(guard.sync(flush), { code: 'store_failed' })
      t.equal(fatal.length, 1)
      t.throws(() => guard.assertWorking(), { code: 'store_failed' })
    }
  })
})
