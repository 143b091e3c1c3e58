/**
 * Real processes, killed with SIGKILL under load: a follower, the leader, all three at once.
 * [issue: every acknowledged object is readable from the others, writing continues, the killed node catches up]
 */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { until } from '../helpers/async.ts'
import { ProcessCluster } from '../helpers/process-cluster.ts'
import { shareOf } from '../helpers/proof-size.ts'
import { Workload } from '../helpers/workload.ts'

const UPLOADS_BETWEEN = shareOf(15, 5)

function blobsOn(cluster: ProcessCluster, nodeId: string): readonly string[] {
  const root = join(cluster.node(nodeId).dataDir, 'blobs')
  return readdirSync(root, { recursive: true, encoding: 'utf8' })
    .map((path) => path.split('/').at(-1) ?? '')
    .filter((name) => /^[0-9a-f]{64}\./.test(name))
    .sort()
}

/** The blob files of every chunk that some node holds, on every node: no copy is missing. */
async function everyNodeHoldsEverything(cluster: ProcessCluster): Promise<void> {
  await until('every node holds every chunk', () => {
    // A copy that came too late for its upload has another, unreferenced birth; only the chunk ids count.
    const held = cluster.plan.map(
      ({ nodeId }) => new Set(blobsOn(cluster, nodeId).map((name) => name.split('.')[0])),
    )
    const all = new Set(held.flatMap((ids) => [...ids]))
    return held.every((ids) => ids.size === all.size)
  })
}

async function killUnderLoad(
  cluster: ProcessCluster,
  work: Workload,
  victims: readonly string[],
): Promise<void> {
  await work.moreAcknowledged(UPLOADS_BETWEEN)
  await Promise.all(victims.map((nodeId) => cluster.signal(nodeId, 'SIGKILL')))
  const survivors = cluster.plan.map(({ nodeId }) => nodeId).filter((nodeId) => !victims.includes(nodeId))
  if (survivors.length > 1) {
    await work.moreAcknowledged(UPLOADS_BETWEEN)
    for (const nodeId of survivors) await work.verifyAt(nodeId)
  }
  for (const nodeId of victims) cluster.startNode(nodeId)
  await cluster.allReady()
  await work.moreAcknowledged(UPLOADS_BETWEEN)
}

t.test('a cluster of three processes', { timeout: 1_800_000 }, async (t) => {
  const cluster = await ProcessCluster.start(t, 3)
  await cluster.login('n1')
  t.equal((await cluster.call('n2', 'POST', '/buckets', '{"name":"work"}')).status, 201)
  const work = new Workload(cluster)
  work.start()
  t.teardown(() => work.stop())

  await t.test('loses nothing when a follower is killed', async (t) => {
    const leader = await cluster.leader()
    const follower = cluster.plan.find(({ nodeId }) => nodeId !== leader)?.nodeId ?? 'n3'
    await killUnderLoad(cluster, work, [follower])
    t.strictSame(work.violations, [])
  })
  await t.test('loses nothing when the leader is killed', async (t) => {
    let leader: string | undefined
    await until('there is a leader', async () => (leader = await cluster.leader()) !== undefined)
    await killUnderLoad(cluster, work, [leader ?? 'n1'])
    t.strictSame(work.violations, [])
  })
  await t.test('loses nothing when all three are killed at once', async (t) => {
    await killUnderLoad(cluster, work, ['n1', 'n2', 'n3'])
    t.strictSame(work.violations, [])
  })
  await t.test('every node serves and holds everything afterwards', async (t) => {
    await work.stop()
    for (const { nodeId } of cluster.plan) await work.verifyAt(nodeId)
    t.strictSame(work.violations, [])
    t.ok(
      work.acknowledged.size >= 8 * UPLOADS_BETWEEN,
      `${work.acknowledged.size} acknowledged uploads were checked at every node`,
    )
    await everyNodeHoldsEverything(cluster)
    for (const { nodeId } of cluster.plan)
      t.equal(await cluster.signal(nodeId, 'SIGTERM'), 0, `${nodeId} stops in order`)
  })
})
