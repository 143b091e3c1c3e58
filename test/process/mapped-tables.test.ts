/**
 * LevelDB maps the tables of the state into memory. An unreadable page of a table is no error that LevelDB could report: the kernel
 * ends the process with SIGBUS. The other nodes continue, and the node starts with its own state, or with that of another node.
 *
 * A table that ends before its mapping does causes the same signal at the same access as an unreadable one, on any file system.
 */
import { copyFileSync, readdirSync, readFileSync, renameSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { until } from '../helpers/async.ts'
import { ProcessCluster } from '../helpers/process-cluster.ts'

const OBJECTS = 120
/** Objects that are stored in the row itself. */
const BODY_BYTES = 1_500
/** Log message of a node that does not use the state that it finds. */
const GIVEN_UP = /state must not be used/
const skip = process.platform === 'linux' ? false : 'what a process maps is read from /proc'

/** The tables of this node; each holds rows. */
function tablesOf(cluster: ProcessCluster, nodeId: string): readonly string[] {
  const state = join(cluster.node(nodeId).dataDir, 'state')
  return readdirSync(state, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ldb'))
    .map((name) => join(state, name))
}

function mappedBy(cluster: ProcessCluster, nodeId: string): readonly string[] {
  const maps = readFileSync(`/proc/${cluster.pid(nodeId)}/maps`, 'utf8')
  return tablesOf(cluster, nodeId).filter((path) => maps.includes(path))
}

/** All objects, read through this node; false once the node is gone. */
async function readsAll(cluster: ProcessCluster, nodeId: string): Promise<boolean> {
  for (let n = 0; n < OBJECTS; n++) {
    const path = `/buckets/work/objects/${n}`
    const answer = await cluster.call(nodeId, 'GET', path).catch(() => null)
    if (answer === null || answer.status !== 200) return false
    if (!answer.body.equals(bodyOf(n))) throw new Error(`${path} was read wrong at ${nodeId}`)
  }
  return true
}

function bodyOf(n: number): Buffer {
  return Buffer.alloc(BODY_BYTES, `${n} `)
}

async function restart(cluster: ProcessCluster, nodeId: string): Promise<void> {
  await cluster.signal(nodeId, 'SIGTERM')
  cluster.startNode(nodeId)
  await cluster.allReady()
}

/** Cuts off every page of a table, and waits for the end of the process. */
async function diesOfItsTables(t: Test, cluster: ProcessCluster): Promise<void> {
  const ended = cluster.ended('n3')
  for (const path of mappedBy(cluster, 'n3')) truncateSync(path, 0)
  if (!t.equal(await readsAll(cluster, 'n3'), false)) return
  t.equal(await ended, 'SIGBUS')
  t.ok(await readsAll(cluster, 'n1'), 'the other nodes read everything')
  t.ok(await readsAll(cluster, 'n2'))
}

t.test('a table of the state that cannot be read any more', { skip, timeout: 1_800_000 }, async (t) => {
  const cluster = await ProcessCluster.start(t, 3)
  await cluster.login('n1')
  await cluster.call('n1', 'POST', '/buckets', '{"name":"work"}')
  for (let n = 0; n < OBJECTS; n++)
    t.equal((await cluster.call('n1', 'PUT', `/buckets/work/objects/${n}`, bodyOf(n))).status, 200)
  // LevelDB turns its log into a table when it opens.
  await restart(cluster, 'n3')

  await t.test('is mapped, and ends the process when it is read', async (t) => {
    await until('a table is in use', () => mappedBy(cluster, 'n3').length > 0)
    const tables = mappedBy(cluster, 'n3')
    for (const path of tables) copyFileSync(path, `${path}.aside`)
    await diesOfItsTables(t, cluster)
    for (const path of tables) renameSync(`${path}.aside`, path)
  })

  await t.test('loses nothing once the disk reads again', async (t) => {
    cluster.startNode('n3')
    await cluster.allReady()
    t.ok(await readsAll(cluster, 'n3'))
    t.notMatch(readFileSync(cluster.node('n3').logFile, 'utf8'), GIVEN_UP)
  })

  await t.test('that stays unreadable is replaced from another node at the next start', async (t) => {
    await restart(cluster, 'n3')
    await until('a table is in use', () => mappedBy(cluster, 'n3').length > 0)
    await diesOfItsTables(t, cluster)
    cluster.startNode('n3')
    await cluster.allReady()
    t.ok(await readsAll(cluster, 'n3'))
    t.match(readFileSync(cluster.node('n3').logFile, 'utf8'), GIVEN_UP)
  })
})
