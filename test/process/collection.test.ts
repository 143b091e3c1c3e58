/**
 * Real processes: deleted objects leave the disks of all nodes, while nodes are killed with SIGKILL in the middle.
 */
import { randomBytes } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { until } from '../helpers/async.ts'
import { ProcessCluster } from '../helpers/process-cluster.ts'

const OBJECTS = 12
const OBJECT_BYTES = 400_000

/** The nodes read it from their environment. */
process.env['HOLDFAST_CLUSTER__COLLECT_AFTER'] = '0ms'

function copiesOn(cluster: ProcessCluster, nodeId: string): number {
  const root = join(cluster.node(nodeId).dataDir, 'blobs')
  const names = readdirSync(root, { recursive: true, encoding: 'utf8' })
  return names.filter((path) => /^[0-9a-f]{2}\/[0-9a-f]{64}\./.test(path)).length
}

t.test('a deleted object leaves every disk', { timeout: 1_800_000 }, async (t) => {
  const cluster = await ProcessCluster.start(t, 3)
  const nodes = cluster.plan.map(({ nodeId }) => nodeId)
  await cluster.login('n1')
  t.equal((await cluster.call('n2', 'POST', '/buckets', '{"name":"work"}')).status, 201)
  const kept = randomBytes(OBJECT_BYTES)
  const put = async (key: string, bytes: Uint8Array) =>
    t.equal((await cluster.call('n1', 'PUT', `/buckets/work/objects/${key}`, bytes)).status, 200)
  await put('kept', kept)
  await put('kept-too', kept)
  for (let i = 0; i < OBJECTS; i++) await put(`gone-${i}`, randomBytes(OBJECT_BYTES))
  await until('three copies of each', () =>
    nodes.every((nodeId) => copiesOn(cluster, nodeId) === OBJECTS + 1),
  )

  const leader = (await cluster.leader()) ?? 'n1'
  const follower = nodes.find((nodeId) => nodeId !== leader) ?? 'n2'
  const third = nodes.find((nodeId) => nodeId !== leader && nodeId !== follower) ?? 'n3'
  await cluster.signal(follower, 'SIGKILL')
  const remove = async (key: string) =>
    t.equal((await cluster.call(third, 'DELETE', `/buckets/work/objects/${key}`)).status, 204)
  for (let i = 0; i < OBJECTS; i++) await remove(`gone-${i}`)
  await until('some are gone', () => copiesOn(cluster, third) <= OBJECTS)
  await cluster.signal(leader, 'SIGKILL')
  t.equal(copiesOn(cluster, follower), OBJECTS + 1, 'the node does not know of it yet')
  for (const nodeId of [follower, leader]) cluster.startNode(nodeId)
  await cluster.allReady()
  await until('one chunk is left on each', () => nodes.every((nodeId) => copiesOn(cluster, nodeId) === 1))

  await cluster.login('n1')
  t.equal((await cluster.call('n1', 'DELETE', '/buckets/work/objects/kept')).status, 204)
  for (const nodeId of nodes) {
    const { status, body } = await cluster.call(nodeId, 'GET', '/buckets/work/objects/kept-too')
    t.strictSame(
      [status, body.equals(kept)],
      [200, true],
      `${nodeId} serves a content that was uploaded twice and deleted once`,
    )
    t.equal(copiesOn(cluster, nodeId), 1)
  }
})
