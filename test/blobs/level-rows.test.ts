/**
 * The rows of the pack index in a real LevelDB, and a store over it that loses it in every way.
 */
import { mkdtemp, readdir, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { DiskBlobStore } from '../../cluster/blobs/disk/disk-blob-store.ts'
import { LevelRows } from '../../cluster/blobs/packs/level-rows.ts'
import { indexRowsContract } from '../port-suites/index-rows.ts'
import { SILENT } from '../helpers/loggers.ts'
import { copyOfOpen } from '../store/open-copy.ts'
import { sampleBlob, streamOf } from './blob-samples.ts'
import { MemoryRows } from './memory-rows.ts'

async function directoryOf(t: Test): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'holdfast-index-'))
  t.teardown(() => rm(directory, { recursive: true, force: true }))
  return directory
}

t.test('LevelRows', (t) =>
  indexRowsContract(t, async (t) => {
    const rows = new LevelRows(join(await directoryOf(t), 'index'))
    await rows.open()
    t.teardown(() => rows.close())
    return rows
  }),
)

t.test('MemoryRows', (t) => indexRowsContract(t, async () => new MemoryRows()))

t.test('LevelRows refuses an index that is open already, and does not change it', async (t) => {
  const directory = await directoryOf(t)
  const rows = new LevelRows(directory)
  await rows.open()
  await rows.write(new Map([['na', Uint8Array.of(1)]]))
  await t.rejects(new LevelRows(directory).open(), { cause: { code: 'LEVEL_LOCKED' } })
  t.ok((await readdir(directory)).includes('CURRENT'))
  t.strictSame([...((await rows.get('na')) ?? [])], [1])
  await rows.close()
})

const BLOBS = Array.from({ length: 40 }, (_, seed) => sampleBlob(seed, seed * 50))

async function openStore(directory: string): Promise<DiskBlobStore> {
  const onFatal = (error: Error): never => {
    throw error
  }
  const store = new DiskBlobStore({ directory, logger: SILENT, onFatal })
  await store.open()
  return store
}

for (const [harm, harmIndex] of [
  ['is gone', (index: string) => rm(index, { recursive: true })],
  ['has lost its table of contents', (index: string) => rm(join(index, 'CURRENT'))],
  [
    'names a table of contents that does not exist',
    (index: string) => writeFile(join(index, 'CURRENT'), 'MANIFEST-9\n'),
  ],
  [
    'has lost the end of its log',
    async (index: string) => {
      const logs = (await readdir(index)).filter((file) => file.endsWith('.log'))
      for (const log of logs) await truncate(join(index, log), 100)
    },
  ],
] as const) {
  t.test(`a store whose index ${harm} finds every blob`, async (t) => {
    const directory = await directoryOf(t)
    const store = await openStore(join(directory, 'blobs'))
    for (const blob of BLOBS) await store.write(blob, streamOf(blob.bytes), blob)
    await store.list(null, 1)
    // Copied while it is open: the directory of a process that was killed.
    copyOfOpen(join(directory, 'blobs'), join(directory, 'killed'))
    await store.close()
    await harmIndex(join(directory, 'killed', 'pack-index'))
    const again = await openStore(join(directory, 'killed'))
    for (const blob of BLOBS) t.equal((await again.verify(blob)).checksum, blob.checksum)
    t.equal((await again.list(null, 100)).length, BLOBS.length)
    await again.close()
  })
}
