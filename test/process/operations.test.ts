/**
 * Real processes: long operations as an operator sees them, at any node, with a lost directory and killed leaders.
 */
import { randomBytes } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { until } from '../helpers/async.ts'
import { ProcessCluster } from '../helpers/process-cluster.ts'

const OBJECTS = 6
const OBJECT_BYTES = 400_000
const SMALL_OBJECTS = 300

type Json = Readonly<Record<string, unknown>>

t.test('operations', { timeout: 1_800_000 }, async (t) => {
  const cluster = await ProcessCluster.start(t, 3)
  const nodes = cluster.plan.map(({ nodeId }) => nodeId)
  await cluster.login('n1')
  t.equal((await cluster.call('n1', 'POST', '/buckets', '{"name":"work"}')).status, 201)
  const names = Array.from({ length: OBJECTS }, (_, n) => `/buckets/work/objects/${n}`)
  for (const name of names)
    t.equal((await cluster.call('n1', 'PUT', name, randomBytes(OBJECT_BYTES))).status, 200)

  const admin = async (
    nodeId: string,
    path: string,
    body?: object,
  ): Promise<{ status: number; json: Json }> => {
    const answer = await fetch(`${cluster.node(nodeId).adminUrl}/admin/api/v1${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${cluster.setup.ownerToken}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    return { status: answer.status, json: (await answer.json()) as Json }
  }
  const operations = async (): Promise<readonly Json[]> => {
    for (const nodeId of nodes) {
      const answer = await admin(nodeId, '/cluster/operations').catch(() => null)
      if (answer?.status === 200) return answer.json['operations'] as readonly Json[]
    }
    return []
  }
  const find = async (about: Json): Promise<Json | undefined> =>
    (await operations()).find((one) => Object.entries(about).every(([name, value]) => one[name] === value))
  await until('three copies of everything', async () => {
    const { json } = await admin('n1', '/tenants/demo/usage')
    return json['physicalBytes'] === 3 * Number(json['storedBytes']) && Number(json['objects']) === OBJECTS
  })

  await t.test('a scrub of all nodes and a recount end while a command waits for them', async (t) => {
    const scrub = await admin('n2', '/cluster/scrub?wait=60s', { reason: 'a new disk' })
    t.match(scrub, { status: 200, json: { type: 'scrub', status: 'succeeded' } })
    const parts = scrub.json['nodes'] as { nodeId: string; isDone: boolean; copies: number }[]
    t.same(
      parts.map(({ nodeId, isDone, copies }) => [nodeId, isDone, copies]),
      nodes.map((id) => [id, true, OBJECTS]),
    )
    const recount = await admin('n3', '/cluster/recount?wait=60s', { reason: 'to be sure' })
    t.match(recount, { status: 200, json: { type: 'recount', status: 'succeeded' } })
    for (const nodeId of nodes) {
      const { json } = await admin(nodeId, '/cluster/repair')
      t.match(json, { lastRecount: { differences: 0 }, collection: { halted: null } })
      const seen = json['nodes'] as Json[]
      t.match(
        seen,
        nodes.map((id) => ({ nodeId: id, reachable: true, disk: { totalBytes: Number } })),
      )
    }
  })

  await t.test('the loss of a blob directory appears as a recovery that ends by itself', async (t) => {
    await rm(join(cluster.node('n3').dataDir, 'blobs'), { recursive: true })
    // Two reads find no copy there, and are served from other nodes. The rest is left to the inventory: a recovery counts what that finds.
    for (const name of names.slice(0, 2)) t.equal((await cluster.call('n3', 'GET', name)).status, 200)
    const about = { type: 'recovery', nodeId: 'n3', status: 'succeeded' }
    await until('the recovery is over', async () => (await find(about)) !== undefined)
    t.match(await find(about), { requestedBy: 'system', error: null, startedAt: String, finishedAt: String })
    t.match((await admin('n1', '/tenants/demo/usage')).json, { objects: OBJECTS })
  })

  await t.test('a scrub outlives the leader, and waits for the node that was killed', async (t) => {
    const leader = (await cluster.leader()) ?? 'n1'
    const other = nodes.find((nodeId) => nodeId !== leader) ?? 'n2'
    const started = await admin(other, '/cluster/scrub', { reason: 'to see' })
    t.equal(started.status, 202)
    const operationId = String(started.json['operationId'])
    await cluster.signal(leader, 'SIGKILL')
    await until('there is another leader', async () => (await cluster.leader()) !== undefined)
    await until('the silent node is listed', async () => {
      const { status, json } = await admin(other, '/cluster/repair')
      const seen = status === 200 ? (json['nodes'] as { nodeId: string; reachable: boolean }[]) : []
      return seen.some(({ nodeId, reachable }) => nodeId === leader && !reachable)
    })
    cluster.startNode(leader)
    await cluster.allReady()
    await until('it is over', async () => (await find({ operationId, status: 'succeeded' })) !== undefined)
  })

  await t.test('the deletion of a tenant outlives the leader, and leaves a tombstone', async (t) => {
    const small = Array.from({ length: SMALL_OBJECTS }, (_, n) => `/buckets/work/objects/small/${n}`)
    const put = async (name: string) => (await cluster.call('n1', 'PUT', name, Buffer.from(name))).status
    t.same(new Set(await Promise.all(small.map(put))), new Set([200]))
    const [tenant, reason] = ['/tenants/demo', 'the end']
    const confirmed = { reason, confirm: 'demo' }
    t.match(await admin('n2', `${tenant}/delete`, confirmed), {
      status: 412,
      json: { code: 'precondition_failed' },
    })
    t.match(await admin('n3', `${tenant}/disable`, { reason }), { status: 200, json: { status: 'disabled' } })
    const leader = (await cluster.leader()) ?? 'n1'
    const other = nodes.find((nodeId) => nodeId !== leader) ?? 'n2'
    const started = await admin(other, `${tenant}/delete`, confirmed)
    t.match(started, {
      status: 202,
      json: { progress: { blobsTotal: OBJECTS + SMALL_OBJECTS, blobsDone: 0 } },
    })
    await cluster.signal(leader, 'SIGKILL')
    const { operationId } = started.json
    const progress = { blobsDone: OBJECTS + SMALL_OBJECTS }
    const isOver = async () => (await find({ operationId, status: 'succeeded' })) !== undefined
    await until('it is over', isOver)
    t.match(await find({ operationId }), { type: 'tenantDeletion', progress, etaSeconds: null })
    cluster.startNode(leader)
    await cluster.allReady()
    for (const nodeId of nodes)
      t.match((await admin(nodeId, tenant)).json, { status: 'deleted', deletedAt: String }, nodeId)
    t.match((await admin(other, `${tenant}/usage`)).json, { buckets: 0, versions: 0, logicalBytes: 0 })
    await admin(leader, '/cluster/recount?wait=60s', { reason: 'to be sure' })
    t.match((await admin(leader, '/cluster/repair')).json, { lastRecount: { differences: 0 } })
  })
})
