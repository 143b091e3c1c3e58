/**
 * Which copies are written without the page cache, from the setting node.direct_io_from to the calls of the disk.
 */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { SystemClock } from '../../cluster/base/system-clock.ts'
import { type FileOps, systemFileOps } from '../../cluster/base/file-ops.ts'
import { nodeStore } from '../../cluster/node-store.ts'
import { loadConfig } from '../../src/config/load-config.ts'
import { clusterOptions } from '../../src/service/cluster-options.ts'
import { SILENT } from '../helpers/loggers.ts'
import { sampleBlob, streamOf } from './blob-samples.ts'

const MIB = 1024 * 1024
const KEYS = { fingerprint: 'f', fingerprints: ['f'] }

/** Sizes of those of 1 and 2 MiB that were asked to be written without the page cache. */
async function uncached(t: Test, setting: string): Promise<readonly number[]> {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-direct-io-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  const file = join(folder, 'node.yaml')
  await writeFile(
    file,
    `node: { id: n1, data_dir: data${setting} }
cluster: { id: test-cluster, members: [{ id: n1, peer: '127.0.0.1:9002' }] }
security: { master_key_file: key }`,
  )
  await mkdir(join(folder, 'data'))
  let size = 0
  const found: number[] = []
  const createUncached: FileOps['createUncached'] = (path) => {
    found.push(size)
    return systemFileOps.createUncached(path)
  }
  const { store } = nodeStore(clusterOptions(loadConfig(file, {}), KEYS, false), {
    clock: new SystemClock(),
    logger: SILENT,
    fail: (error) => t.fail(error.message),
    onTrouble: () => t.fail('the disk fails'),
    onUnknown: () => undefined,
    heldBackBytes: () => 0,
    fileOps: { ...systemFileOps, createUncached },
  })
  await store.open()
  for (size of [MIB, 2 * MIB]) {
    const blob = sampleBlob(size, size)
    await store.write(blob, streamOf(blob.bytes), blob)
  }
  await store.close()
  return found
}

t.test('node.direct_io_from', async (t) => {
  t.same(await uncached(t, ''), [MIB, 2 * MIB], 'from 1 MiB by default')
  t.same(await uncached(t, ', direct_io_from: 2MiB'), [2 * MIB])
  t.same(await uncached(t, ', direct_io_from: 0'), [], '0: none')
})
