/**
 * The certificates of a real cluster are exchanged as the runbook says, while it serves and without a restart.
 * [deploy/runbooks/rotate-certificates.md]
 */
import { appendFileSync, copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { until } from '../helpers/async.ts'
import { runCommand } from '../helpers/run-command.ts'
import { ProcessCluster, temporaryFolder } from '../helpers/process-cluster.ts'

const NODES = ['n1', 'n2', 'n3']

async function holdfast(...argv: readonly string[]): Promise<void> {
  const { code, err } = await runCommand(...argv)
  if (code !== 0) throw new Error(`holdfast ${argv.join(' ')} ended with ${code}: ${err}`)
}

t.test('an exchange of certificates', { timeout: 1_800_000 }, async (t) => {
  const cluster = await ProcessCluster.start(t, 3)
  const certs = temporaryFolder(t)
  const { clusterId } = cluster.setup
  const issue = async (out: string): Promise<void> => {
    for (const node of NODES)
      await holdfast('certs', 'issue', '--dir', certs, '--node', node, '--out', join(certs, out))
  }
  const folderOf = (node: string): string => join(cluster.node(node).dataDir, '..')
  const copy = (from: string): void => {
    for (const node of NODES)
      for (const end of ['pem', 'key'])
        copyFileSync(join(certs, from, `${node}.${end}`), join(folderOf(node), `${node}-peer.${end}`))
  }
  const count = (node: string, message: string): number =>
    readFileSync(cluster.node(node).logFile, 'utf8').split(message).length - 1
  const figure = async (node: string): Promise<number> => {
    const page = await (await fetch(`${cluster.node(node).adminUrl}/metrics`)).text()
    const row =
      /^holdfast_tls_certificate_expiry_timestamp_seconds\{listener="peer",certificate="own"\} (\d+)$/m
    return Number(row.exec(page)?.[1])
  }

  await holdfast('certs', 'init', '--dir', certs, '--cluster-id', clusterId)
  await issue('first')
  copy('first')
  for (const node of NODES) await cluster.signal(node, 'SIGTERM')
  for (const node of NODES) {
    copyFileSync(join(certs, 'ca.pem'), join(folderOf(node), 'ca.pem'))
    appendFileSync(
      cluster.node(node).configFile,
      `\npeer_tls: { ca: ca.pem, cert: ${node}-peer.pem, key: ${node}-peer.key }\n`,
    )
    cluster.startNode(node)
  }
  await cluster.allReady()
  await t.test('starts with nodes that speak TLS with each other', async (t) => {
    await cluster.login('n1')
    t.equal((await cluster.call('n1', 'POST', '/buckets', '{"name":"kept"}')).status, 201)
    for (const node of NODES) t.equal(count(node, '"tls":true'), 1, node)
  })
  await t.test('reaches every node without a restart', async (t) => {
    const before = await figure('n1')
    await issue('second')
    copy('second')
    await until('every node has the new one', () =>
      NODES.every((node) => count(node, 'new certificate in use') === 1),
    )
    t.ok((await figure('n1')) > before)
    for (const node of NODES) t.equal(count(node, 'peer connection refused'), 0, node)
  })
  await t.test(
    'is asked for by SIGHUP, which also reads the level of the log and stops no node',
    async (t) => {
      const config = cluster.node('n1').configFile
      const good = readFileSync(config, 'utf8')
      const pid = cluster.pid('n1')
      appendFileSync(config, '\nlogging: { level: loud }\n')
      process.kill(pid, 'SIGHUP')
      const refused = 'configuration cannot be read again, the present one stays'
      await until('the fault is reported', () => count('n1', refused) === 1)
      await issue('third')
      copy('third')
      writeFileSync(config, `${good}\nlogging: { level: debug }\n`)
      process.kill(pid, 'SIGHUP')
      await until('it has the new one', () => count('n1', 'new certificate in use') === 2)
      await until('it has the new level', () => count('n1', '"level":"debug"') > 1)
      t.ok(await cluster.ready('n1'))
      t.equal(cluster.pid('n1'), pid)
      writeFileSync(config, good)
    },
  )
  await t.test('ends with nodes that communicate by the new ones', async (t) => {
    await cluster.signal('n2', 'SIGTERM')
    cluster.startNode('n2')
    await cluster.allReady()
    const body = Buffer.from('written over new connections'.repeat(1000))
    t.equal((await cluster.call('n2', 'PUT', '/buckets/kept/objects/a', body)).status, 200)
    t.same((await cluster.call('n3', 'GET', '/buckets/kept/objects/a', null)).body, body)
  })
})
