/**
 * Rows that are damaged on the disk of a running node, among nodes as the service runs them: it keeps running, and so do all writers.
 */
import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { closeSync, openSync, readdirSync, readFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { Condition } from '../../cluster/index.ts'
import { createPropose } from '../../src/commands/propose.ts'
import { until } from '../helpers/async.ts'
import { createTenant } from '../state-machine/map-world.ts'
import { type SocketNode, SocketNodes } from './socket-nodes.ts'
import { tenantKeys } from '../../src/state-machine/tenants/keys.ts'

const TENANTS = 60
/** Of each node. */
const WRITES_MAX = 2_000

/** Random text: LevelDB cannot compress it, so it is found verbatim on the disk. */
const nameOf = (i: number): string => hash('sha256', `tenant ${i}`, 'base64url').slice(0, 20)
const idOf = (i: number): string => `tenant-${i}`

/** Overwrites in place the only table with `text`: an open file must see it. */
function flipInTables(dir: string, text: string): void {
  for (const path of readdirSync(dir, { recursive: true, encoding: 'utf8' }).map((name) => join(dir, name))) {
    if (!path.endsWith('.ldb')) continue
    const bytes = readFileSync(path)
    const at = bytes.indexOf(text)
    if (at < 0) continue
    const file = openSync(path, 'r+')
    writeSync(file, Uint8Array.of(bytes.readUInt8(at) ^ 1), 0, 1, at)
    closeSync(file)
    return
  }
  assert.fail(`no table below ${dir} says ${text}`)
}

/** Writes at every node until `stop`. Resolves with the ids of the acknowledged tenants. */
function writeOn(nodes: SocketNodes, name: string): () => Promise<readonly string[]> {
  const acked: string[] = []
  let isOver = false
  const work = nodes.all.map(async ({ nodeId, cluster }) => {
    const propose = createPropose({ propose: (command) => cluster.propose(command) })
    for (let i = 0; !isOver && i < WRITES_MAX; i += 1) {
      const id = `${name}-${nodeId}-${i}`
      await propose(createTenant(id)).then(
        (reply) => reply.ok && acked.push(id),
        (error: unknown) => assert(error instanceof Condition, String(error)),
      )
    }
  })
  return async () => {
    isOver = true
    await Promise.all(work)
    return acked
  }
}

/** The rows of a start lie in tables. */
async function restarted(nodes: SocketNodes, nodeId: string): Promise<SocketNode> {
  await nodes.node(nodeId).cluster.stop()
  const again = await nodes.start(nodeId)
  await until(`${nodeId} is back`, () => again.cluster.readiness().ready)
  return again
}

async function rebuilds({ cluster }: SocketNode): Promise<number> {
  const samples = await cluster.metrics()
  return samples.find(({ name }) => name === 'holdfast_state_rebuilds_total')?.value ?? -1
}

async function damagedInUse(t: Test, nodes: SocketNodes, wrong: SocketNode): Promise<void> {
  const { nodeId, cluster, reader, machine } = wrong
  const ends = writeOn(nodes, t.name)
  t.teardown(ends)
  let hasFailed = false
  void cluster.failed.then(() => (hasFailed = true))
  flipInTables(join(nodes.root, nodeId, 'state'), nameOf(30))
  await cluster.readBarrier()
  t.throws(() => reader.get(tenantKeys.tenant(idOf(30))), {
    code: 'leader_not_ready',
    message: /is being replaced/,
  })
  t.match(cluster.readiness(), { ready: false, reasons: [/checksum does not agree/] })
  await cluster.readBarrier()
  t.equal(reader.get(tenantKeys.tenant(idOf(30)))?.name, nameOf(30), 'at the first barrier after it')
  await until('the node is ready', () => cluster.readiness().ready)
  const acked = await ends()
  t.equal(new Set(await nodes.sums()).size, 1, 'one state')
  for (const node of nodes.all)
    t.strictSame(
      acked.filter((id) => node.reader.get(tenantKeys.tenant(id)) === undefined),
      [],
      node.nodeId,
    )
  t.ok(acked.length > 0)
  t.equal(await machine.verify(), null)
  t.equal(await rebuilds(wrong), 1)
  t.notOk(hasFailed, 'the node did not fail')
}

t.test('a damaged row on the disk of a running node', async (t) => {
  const nodes = await SocketNodes.start(t)
  const propose = createPropose({ propose: (command) => nodes.node('n1').cluster.propose(command) })
  for (let i = 0; i < TENANTS; i += 1) await propose({ ...createTenant(idOf(i)), name: nameOf(i) })
  const isLeader = ({ cluster }: SocketNode): boolean => cluster.isJobRunner()

  await t.test('of a follower', async (t) => {
    const follower = nodes.all.find((node) => !isLeader(node)) ?? assert.fail('there are followers')
    await damagedInUse(t, nodes, await restarted(nodes, follower.nodeId))
  })

  await t.test('of the leader', async (t) => {
    for (const { nodeId } of nodes.all) await restarted(nodes, nodeId)
    await until('somebody leads', () => nodes.all.some(isLeader))
    const leader = nodes.all.find(isLeader) ?? assert.fail('somebody leads')
    await damagedInUse(t, nodes, leader)
  })
})
