/**
 * A recovery on real nodes across a restart of all of them, and so across a change of the leader: every copy is counted once.
 */
import { rm } from 'node:fs/promises'
import t from 'tap'
import { endRereplications } from '../../src/workers/rereplication.ts'
import { until } from '../helpers/async.ts'
import { SILENT } from '../helpers/loggers.ts'
import { RealNodes } from './real-nodes.ts'
import { longOperationRanges } from '../../src/state-machine/long-operations/keys.ts'

const BLOBS = 16
/** Slow enough that the restart comes in the middle. */
const BYTES_PER_SECOND = 1_000_000

t.test('a recovery counts every copy once, also when all nodes are restarted in the middle', async (t) => {
  const three = await RealNodes.start(t)
  const uploads = await Promise.all(Array.from({ length: BLOBS }, (_, seed) => three.upload(seed)))
  await three.commit(uploads)
  await until('all copies are listed', () => uploads.every(({ ref }) => three.listed(ref).length === 3))
  const { directory } = three.node('n3')
  await three.stop()
  await rm(directory, { recursive: true })

  await three.open([1, 1, 1])
  three.node('n3').cluster.setRepairRate(BYTES_PER_SECOND)
  const recovery = async () => {
    for (const { cluster, reader: state, propose } of three.nodes)
      await endRereplications({ cluster, state, propose, logger: SILENT }).catch(() => false)
    return (await three.node('n1').reader.page(longOperationRanges.operations(), { limit: 10 })).items.at(-1)
  }
  await until('some are back', async () => ((await recovery())?.progress.blobsDone ?? 0) >= 2)
  const before = await recovery()
  t.match(before, { kind: 'recovery', node: 'n3', status: 'running', progress: { blobsTotal: BLOBS } })
  t.ok((before?.progress.tasksOpen ?? 0) > 0, 'and not all')
  // It stops first, because it has something to commit.
  await three.node('n3').cluster.stop()
  await three.stop()

  await three.open([1, 1, 1])
  await until('it is over', async () => (await recovery())?.status === 'succeeded')
  const after = await recovery()
  t.equal(after?.operationId, before?.operationId)
  t.match(after, {
    finishedAt: Number,
    error: null,
    progress: {
      blobsTotal: BLOBS,
      blobsDone: BLOBS,
      bytesMoved: uploads.reduce((sum, { ref }) => sum + ref.size, 0),
      tasksOpen: 0,
      skipped: 0,
    },
  })
  t.ok(uploads.every(({ ref }) => three.listed(ref).length === 3))
})
