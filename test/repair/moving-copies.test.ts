/**
 * A rebalance with nothing simulated: four nodes, where another node is to hold no copies; real copies, real rows.
 */
import t from 'tap'
import { collect, sha256 } from '../blobs/blob-samples.ts'
import { until } from '../helpers/async.ts'
import { SILENT } from '../helpers/loggers.ts'
import { Rebalancing } from '../../src/workers/rebalancing.ts'
import { copiesOn, RealNodes } from './real-nodes.ts'
import { chunkKeys } from '../../src/state-machine/chunks/keys.ts'
import { longOperationKeys } from '../../src/state-machine/long-operations/keys.ts'

t.test('a rebalance', async (t) => {
  const real = await RealNodes.start(t, [1, 1, 1, 0])
  const uploads: Awaited<ReturnType<RealNodes['upload']>>[] = []
  for (let seed = 0; seed < 20; seed++) uploads.push(await real.upload(seed))
  await real.commit(uploads)
  await until('three copies of each are listed', () =>
    uploads.every(({ ref }) => real.listed(ref).length === 3),
  )
  t.strictSame(await copiesOn(real.node('n4'), uploads), [])
  await real.stop()

  await real.open([0, 1, 1, 1])
  const { propose, reader, cluster } = real.node('n2')
  const answers = () =>
    cluster.readBarrier().then(
      () => true,
      () => false,
    )
  await until('a leader has a majority', answers)
  const about = { operationId: 'op1', kind: 'rebalance', requestedBy: 'adm', reason: 'n1 is to go' } as const
  const scope = { tenantId: 'acme', bucket: 'photos', node: null, maxBytesPerSecond: null }
  await propose({ type: 'startOperation', ...about, ...scope })
  const drivers = real.nodes.map(({ cluster, reader: state, propose }) => {
    return new Rebalancing({ cluster, state, propose, now: () => performance.now(), logger: SILENT })
  })
  await until('it has succeeded', async () => {
    for (const driver of drivers) await driver.round().catch(() => undefined)
    return reader.get(longOperationKeys.operation('op1'))?.status === 'succeeded'
  })

  const bytesMoved = uploads.reduce((sum, { ref }) => sum + ref.size, 0)
  t.match(reader.get(longOperationKeys.operation('op1')), {
    progress: { blobsTotal: 20, blobsDone: 20, bytesMoved, skipped: 0, tasksOpen: 0 },
  })
  for (const { ref } of uploads) {
    const { replicas } = reader.get(chunkKeys.chunk('acme', ref.id as string)) ?? { replicas: [] }
    t.strictSame([...replicas].sort(), ['n2', 'n3', 'n4'])
    for (const copy of cluster.blobs.copies({ ...ref, replicas: ['n4'] }))
      t.equal(sha256(await collect(copy.read(0, ref.size))), ref.checksum)
  }
  await until('the old copies are gone', async () => (await copiesOn(real.node('n1'), uploads)).length === 0)
})
