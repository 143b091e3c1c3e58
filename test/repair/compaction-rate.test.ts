/**
 * The repair rate that an operator sets also limits the compaction of packs, in a fully assembled cluster object.
 */
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { assembleBlobs } from '../../cluster/blob-parts.ts'
import { LoopbackNetwork } from '../../cluster/transport/loopback-transport.ts'
import { sampleBlob, streamOf } from '../blobs/blob-samples.ts'
import { until } from '../helpers/async.ts'
import { SILENT } from '../helpers/loggers.ts'
import { NO_COPIES } from '../../scripts/bench/no-copies.ts'
import { VirtualClock } from '../programs/simulator/virtual-clock.ts'

t.test('a compaction waits for the rate of repair, and runs freely without a rate', async (t) => {
  const dataDir = await mkdtemp(join(tmpdir(), 'holdfast-rate-'))
  t.teardown(() => rm(dataDir, { recursive: true, force: true }))
  const clock = new VirtualClock()
  const network = new LoopbackNetwork({ clock, random: () => 0, minDelayMs: 1, maxDelayMs: 1 })
  const members = [{ nodeId: 'n1', peerAddress: '127.0.0.1:1', zone: 'z', weight: 1 }]
  const raft = {
    heartbeatMs: 50,
    electionTimeoutMs: 500,
    logKeepEntries: 10_000,
    logKeepBytes: 1 << 24,
    logPinBytes: 2 ** 26,
  }
  const about = {
    clusterId: 'rates',
    nodeId: 'n1',
    dataDir,
    listen: '',
    members,
    tls: null,
    fingerprint: 'key',
  }
  const { store, throttle, reopenStore } = assembleBlobs(
    { ...about, ...raft },
    {
      identity: {
        clusterId: 'rates',
        nodeId: 'n1',
        fingerprint: 'key',
        incarnation: 'life',
        boot: 1,
        before: [],
      },
      transport: network.transport('n1', { incarnation: 'life' }),
      clock,
      members,
      copyLedger: NO_COPIES,
      logger: SILENT,
      readBarrier: async () => undefined,
      fail: (error) => t.fail(error.message),
    },
  )
  await store.open()
  const blobs = [1, 2, 3].map((seed) => sampleBlob(seed))
  const [kept = sampleBlob(0), ...gone] = blobs
  for (const blob of blobs) await store.write(blob, streamOf(blob.bytes), blob)
  // From now on their pack is not the one that is written.
  await reopenStore()
  const packs = () => readdir(join(dataDir, 'blobs', 'packs'))
  const [old = ''] = await packs()
  throttle.setRate(1)
  await store.remove(gone)
  await until('it waits for its rate', () => clock.pending === 1)
  t.ok((await packs()).includes(old))
  throttle.setRate(null)
  await until('the pack is gone', async () => !(await packs()).includes(old))
  t.equal((await store.verify(kept)).checksum, kept.checksum)
  throttle.close()
  await store.close()
})
