/**
 * The data key of a tenant is exchanged on three real nodes as the runbook says, while programs write and read and the leader is killed. Afterwards no former
 * copy is on any disk, and the image of a disk from before does not open with the keys that the rows hold now. [deploy/runbooks/exchange-tenant-key.md]
 */
import { randomBytes } from 'node:crypto'
import { cpSync } from 'node:fs'
import t from 'tap'
import { loadConfig } from '../../src/config/load-config.ts'
import { until } from '../helpers/async.ts'
import { copiesOn, opens, ringOf, rowsOn, withBlobs } from '../../scripts/bench/disk-image.ts'
import { ProcessCluster, sha256, temporaryFolder } from '../helpers/process-cluster.ts'
import { blocksOf, installCommand, typed } from '../helpers/runbook.ts'
import { SteadyLoad } from '../helpers/steady-load.ts'

/** The nodes read it from their environment. */
process.env['HOLDFAST_CLUSTER__COLLECT_AFTER'] = '0ms'

const BEFORE = 60
/** Inline, in a pack, in a file, of two chunks. */
const SIZES = [300, 9_000, 400_000, 4_500_000]
/** The tenant that the set-up of a cluster makes. */
const TENANT = 'demo'

t.test('an exchange of a data key under load, with a killed leader', { timeout: 1_800_000 }, async (t) => {
  const cluster = await ProcessCluster.start(t, 3)
  await cluster.login('n1')
  t.equal((await cluster.call('n1', 'POST', '/buckets', '{"name":"kept"}')).status, 201)
  const sums = new Map<string, string>()
  for (let n = 0; n < BEFORE; n++) {
    const body = randomBytes(SIZES[n < 8 ? n % 4 : n % 2] ?? 300)
    t.equal((await cluster.call('n1', 'PUT', `/buckets/kept/objects/o${n}`, body)).status, 200)
    sums.set(`o${n}`, sha256(body))
  }
  const [node] = cluster.plan
  if (node === undefined) return t.fail('there is a node')
  const { masterKeyFile } = loadConfig(node.configFile, {}).security
  await cluster.signal('n3', 'SIGTERM')
  const image = temporaryFolder(t)
  cpSync(cluster.node('n3').dataDir, image, { recursive: true })
  cluster.startNode('n3')
  await cluster.allReady()
  const before = await rowsOn(image, TENANT)
  t.ok(before.chunks.length > BEFORE / 2)

  const load = new SteadyLoad(cluster, 'kept')
  load.start()
  await load.goesOn(5)
  const folder = temporaryFolder(t)
  installCommand(folder)
  const env = {
    PATH: `${folder}:${process.env['PATH'] ?? ''}`,
    HOLDFAST_ADMIN_ENDPOINT: cluster.plan.map(({ adminUrl }) => adminUrl).join(','),
    HOLDFAST_ADMIN_TOKEN: cluster.setup.ownerToken ?? '',
  }
  const lines = blocksOf('exchange-tenant-key.md').map((block) => block.replaceAll('acme', TENANT))
  t.equal(lines.length, 3)
  const [dryRun = '', rotate = '', show = ''] = lines
  t.match(await typed(dryRun, env), /chunks/)
  await typed(rotate, env)
  await load.goesOn(5)
  const leader = (await cluster.leader()) ?? 'n1'
  await cluster.signal(leader, 'SIGKILL')
  await load.goesOn(5)
  cluster.startNode(leader)
  await cluster.allReady()
  const shown = async (): Promise<string> => typed(`${show.trim()} --json`, env).catch(() => '')
  await until('the exchange has ended', async () => (await shown()).includes('"exchange":null'))
  await load.stop()
  t.strictSame(load.failures, [])

  await cluster.login('n2')
  for (const [key, sum] of [...sums, ...load.acknowledged]) {
    const { status, body } = await cluster.call('n2', 'GET', `/buckets/kept/objects/${key}`)
    t.strictSame([key, status, sha256(body)], [key, 200, sum])
  }
  const drops = async (nodeId: string) => (await cluster.metric(nodeId, 'holdfast_former_key_chunks')) ?? -1
  t.equal(await drops('n2'), 0)

  for (const { nodeId } of cluster.plan) await cluster.signal(nodeId, 'SIGTERM')
  const births = new Set(before.chunks.map(({ birth }) => birth))
  const birthOf = (copy: string): string => copy.slice(copy.indexOf('.') + 1)
  for (const { nodeId, dataDir } of cluster.plan) {
    const after = await rowsOn(dataDir, TENANT)
    t.equal(after.tenant.dataKeyVersion, 2)
    t.equal(after.tenant.formerKey, undefined, `${nodeId} has no former key`)
    t.strictSame(
      after.chunks.filter(({ keyVersion }) => keyVersion !== 2),
      [],
      'every row names the new key',
    )
    const copies = await copiesOn(dataDir)
    t.ok(after.chunks.length > 0 && copies.size >= after.chunks.length / 2)
    t.strictSame(
      [...copies].filter((copy) => births.has(birthOf(copy))),
      [],
      `${nodeId} has no former copy`,
    )
    const [old, now] = [await ringOf(before.tenant, masterKeyFile), await ringOf(after.tenant, masterKeyFile)]
    await withBlobs(image, async (store) => {
      for (const chunk of before.chunks.slice(0, 20)) {
        if (!chunk.replicas.includes('n3')) continue
        t.ok(await opens(store, chunk, old), 'the image opens with the key of its time')
        t.notOk(await opens(store, chunk, now), 'and not with the keys of now')
      }
    })
  }
})
