/**
 * A rebalance takes disks into account: four nodes with real copies and real rows. First one disk is full, later another one, and
 * then one fails.
 */
import t from 'tap'
import { Rebalancing } from '../../src/workers/rebalancing.ts'
import { until } from '../helpers/async.ts'
import { SILENT } from '../helpers/loggers.ts'
import { copiesOn, RealNodes, type Upload } from './real-nodes.ts'
import { SpoiledDisk } from './spoiled-disk.ts'
import { chunkKeys } from '../../src/state-machine/chunks/keys.ts'
import { longOperationKeys } from '../../src/state-machine/long-operations/keys.ts'

t.test('a rebalance', async (t) => {
  const disks = new Map(['n1', 'n2', 'n3', 'n4'].map((nodeId) => [nodeId, new SpoiledDisk()]))
  const disk = (nodeId: string): SpoiledDisk => disks.get(nodeId) ?? new SpoiledDisk()
  disk('n4').fillUp()
  const real = await RealNodes.start(t, [1, 1, 1, 1], (nodeId) => disk(nodeId).ops)
  const { propose, reader } = real.node('n2')
  const allPlaceOn = (...nodeIds: string[]): Promise<void> =>
    until(`all place on ${nodeIds.join()}`, () =>
      real.nodes.every(({ cluster }) => [...cluster.placement('ff')].sort().join() === nodeIds.join()),
    )
  const rebalance = async (operationId: string): Promise<void> => {
    const scope = { tenantId: 'acme', bucket: 'photos', node: null, maxBytesPerSecond: null }
    const about = { operationId, kind: 'rebalance', requestedBy: 'adm', reason: 'disks' } as const
    await propose({ type: 'startOperation', ...about, ...scope })
    const drivers = real.nodes.map(({ cluster, reader: state, propose: ask }) => {
      return new Rebalancing({ cluster, state, propose: ask, now: () => performance.now(), logger: SILENT })
    })
    await until(`${operationId} has succeeded`, async () => {
      for (const driver of drivers) await driver.round().catch(() => undefined)
      return reader.get(longOperationKeys.operation(operationId))?.status === 'succeeded'
    })
  }
  const holdersOf = ({ ref }: Upload) =>
    [...(reader.get(chunkKeys.chunk('acme', ref.id as string))?.replicas ?? [])].sort()

  await allPlaceOn('n1', 'n2', 'n3')
  const uploads: Upload[] = []
  for (let seed = 0; seed < 12; seed++) uploads.push(await real.upload(seed))
  await real.commit(uploads)
  for (const { missing } of uploads) t.strictSame(missing, [], 'the others have space for all')

  t.test('moves nothing onto a full disk', async (t) => {
    await rebalance('op1')
    t.strictSame(await copiesOn(real.node('n4'), uploads), [])
    for (const upload of uploads) t.strictSame(holdersOf(upload), ['n1', 'n2', 'n3'])
  })

  const areAllOn = async (operationId: string, nodeIds: readonly string[], gone: string): Promise<void> => {
    await allPlaceOn(...nodeIds)
    await rebalance(operationId)
    for (const upload of uploads) t.strictSame(holdersOf(upload), nodeIds)
    await until(
      `nothing is left on ${gone}`,
      async () => (await copiesOn(real.node(gone), uploads)).length === 0,
    )
  }

  t.test('moves everything off a full disk to one that has space', async () => {
    disk('n4').makeRoom()
    disk('n1').fillUp()
    await areAllOn('op2', ['n2', 'n3', 'n4'], 'n1')
  })

  t.test('moves everything off a suspect disk to one that has space', async () => {
    disk('n1').makeRoom()
    disk('n2').isFailing = true
    await until('n2 is suspect', async () => {
      await copiesOn(real.node('n2'), uploads).catch(() => undefined)
      const reported = await real.node('n1').cluster.repairStatuses()
      return reported.find(({ nodeId }) => nodeId === 'n2')?.disk?.isSuspect === true
    })
    disk('n2').isFailing = false
    await areAllOn('op3', ['n1', 'n3', 'n4'], 'n2')
  })
})
