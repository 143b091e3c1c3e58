/**
 * The master key of a real cluster is rotated as the runbook says, one node after the other, while it serves.
 * [deploy/runbooks/rotate-master-key.md]
 */
import { spawnSync } from 'node:child_process'
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { nodeProgram } from '../../scripts/build/node-program.ts'
import { until } from '../helpers/async.ts'
import { withoutLoader } from '../helpers/without-loader.ts'
import { ProcessCluster } from '../helpers/process-cluster.ts'

const NODES = ['n1', 'n2', 'n3']

function holdfast(...args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(...withoutLoader(process.execPath, nodeProgram(), ...args), {
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`holdfast ${args.join(' ')} ended with ${status}: ${stderr}`)
  return stdout
}

/** From now on each node has its own key file, as on separate machines. */
function keyFiles(cluster: ProcessCluster): ReadonlyMap<string, string> {
  return new Map(
    cluster.plan.map(({ nodeId, configFile, dataDir }) => {
      const file = join(dataDir, '..', `${nodeId}.key`)
      copyFileSync(join(dataDir, '..', 'master.key'), file)
      const config = readFileSync(configFile, 'utf8')
      writeFileSync(
        configFile,
        config.replace('master_key_file: master.key', `master_key_file: ${nodeId}.key`),
      )
      return [nodeId, file]
    }),
  )
}

async function restart(cluster: ProcessCluster, nodeId: string): Promise<void> {
  await cluster.signal(nodeId, 'SIGTERM')
  cluster.startNode(nodeId)
  await cluster.allReady()
}

t.test('a rotation of the master key', { timeout: 1_800_000 }, async (t) => {
  const cluster = await ProcessCluster.start(t, 3)
  const files = keyFiles(cluster)
  const fileOf = (nodeId: string): string => files.get(nodeId) ?? ''
  const objects = '/buckets/kept/objects'
  await cluster.login('n1')
  await cluster.call('n1', 'POST', '/buckets', '{"name":"kept"}')

  /** A new login, a write and all reads at this node. */
  const serves = async (nodeId: string): Promise<void> => {
    await cluster.login(nodeId)
    const body = Buffer.from(`written at ${nodeId}`.repeat(1000))
    t.equal((await cluster.call(nodeId, 'PUT', `${objects}/${nodeId}`, body)).status, 200)
    for (const reader of NODES) {
      const read = await cluster.call(reader, 'GET', `${objects}/${nodeId}`)
      t.ok(read.body.equals(body), `${reader} reads what ${nodeId} wrote`)
    }
  }

  await t.test('is announced on one node and copied to the others, which serve meanwhile', async (t) => {
    const [first] = cluster.plan
    const reported = holdfast('master-key', 'add', '--config', first?.configFile ?? '')
    t.match(reported, /contains the new master key mk-[0-9a-f]+ in front of mk-/)
    const listed = holdfast('master-key', 'list', '--config', first?.configFile ?? '')
    t.match(listed, /^mk-\w+ {2}[0-9a-f]{64} {2}newest\nmk-\w+ {2}[0-9a-f]{64}\n$/)
    const secrets = readFileSync(fileOf('n1'), 'utf8').match(/[\w-]{43}$/gm) ?? []
    t.equal(secrets.length, 2)
    for (const secret of secrets) t.notOk(`${reported}${listed}`.includes(secret))
    for (const nodeId of NODES) {
      if (nodeId !== 'n1') copyFileSync(fileOf('n1'), fileOf(nodeId))
      await restart(cluster, nodeId)
      await serves(nodeId)
    }
  })

  await t.test('ends with everything sealed under the new key', async () => {
    await until('the leader finds nothing under the old key', async () => {
      const leader = await cluster.leader()
      if (leader === undefined) return false
      return (await cluster.metric(leader, 'holdfast_master_key_secrets_remaining')) === 0
    })
  })

  await t.test('drops the old key, and a node with only the old one is refused', async (t) => {
    const [newest = '', older = ''] = readFileSync(fileOf('n1'), 'utf8').split('\n')
    for (const nodeId of NODES) writeFileSync(fileOf(nodeId), `${newest}\n`)
    await Promise.all(NODES.map((nodeId) => cluster.signal(nodeId, 'SIGTERM')))
    for (const nodeId of NODES) cluster.startNode(nodeId)
    await cluster.allReady()
    for (const nodeId of NODES) await serves(nodeId)
    await cluster.signal('n3', 'SIGTERM')
    writeFileSync(fileOf('n3'), `${older}\n`)
    const { configFile } = cluster.node('n3')
    t.throws(() => holdfast('server', '--config', configFile), {
      message: /made with another key fingerprint/,
    })
  })
})
