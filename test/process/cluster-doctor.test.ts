/** What the doctor finds on real nodes, asked at one of them, and by the command line. */
import { appendFileSync, chmodSync, copyFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { CHECKS } from '../../src/doctor/check-list.ts'
import { until } from '../helpers/async.ts'
import { runCommand } from '../helpers/run-command.ts'
import { ProcessCluster, temporaryFolder } from '../helpers/process-cluster.ts'

const NODES = ['n1', 'n2', 'n3']
/** A running node makes no writes, and asks no other node. */
const NOT_BY_ITSELF = ['configuration', 'disk_speed', 'listeners', 'peers', 'clock', 'disks']

interface Shown {
  readonly nodes: readonly {
    readonly nodeId: string
    readonly answer: string
    readonly findings: readonly {
      readonly check: string
      readonly severity: string
      readonly found: string
    }[]
    readonly notChecked: readonly string[]
    readonly certificates: readonly { readonly setting: string; readonly term: string }[]
  }[]
}

async function holdfast(...argv: readonly string[]): Promise<void> {
  const { code, err } = await runCommand(...argv)
  if (code !== 0) throw new Error(`holdfast ${argv.join(' ')} ended with ${code}: ${err}`)
}

t.test('the doctor of a cluster', { timeout: 900_000 }, async (t) => {
  const certs = temporaryFolder(t)
  const cluster = await ProcessCluster.start(t, 3, null, {
    beforeStart: async ({ plan, setup }) => {
      await holdfast('certs', 'init', '--dir', certs, '--cluster-id', setup.clusterId)
      for (const { nodeId, configFile } of plan) {
        const days = nodeId === 'n2' ? '10' : '365'
        await holdfast('certs', 'issue', '--dir', certs, '--node', nodeId, '--out', certs, '--days', days)
        const folder = join(configFile, '..')
        copyFileSync(join(certs, 'ca.pem'), join(folder, 'doctor-ca.pem'))
        for (const end of ['pem', 'key'])
          copyFileSync(join(certs, `${nodeId}.${end}`), join(folder, `${nodeId}-peer.${end}`))
        appendFileSync(
          configFile,
          `\npeer_tls: { ca: doctor-ca.pem, cert: ${nodeId}-peer.pem, key: ${nodeId}-peer.key }\n`,
        )
      }
    },
  })
  const ask = async (): Promise<Shown> => {
    const { status, body } = await cluster.admin('n1', { method: 'GET', path: '/cluster/doctor' })
    if (status !== 200) throw new Error(`it answered with ${status}`)
    return JSON.parse(body.toString()) as Shown
  }
  const troubles = ({ nodes }: Shown, check: string): readonly string[] =>
    nodes.flatMap(({ nodeId, findings }) =>
      findings
        .filter((finding) => finding.check === check && finding.severity !== 'ok')
        .map(({ severity, found }) => `${nodeId} ${severity} ${found}`),
    )

  await t.test('every member makes the checks that it can make, and names the others', async (t) => {
    // The members of a new cluster are noted in its state soon after the start.
    await until('every node is a member with a place', async () =>
      (await ask()).nodes.every(({ notChecked }) => !notChecked.includes('placement')),
    )
    const shown = await ask()
    t.same(
      shown.nodes.map(({ nodeId, answer }) => [nodeId, answer]),
      NODES.map((nodeId) => [nodeId, 'known']),
    )
    for (const { nodeId, findings, notChecked } of shown.nodes) {
      t.same(notChecked, NOT_BY_ITSELF, nodeId)
      t.equal(new Set(findings.map(({ check }) => check)).size, CHECKS.length - NOT_BY_ITSELF.length)
    }
  })

  await t.test('a certificate that ends soon is found where it is', async (t) => {
    const shown = await ask()
    t.match(troubles(shown, 'peer_tls'), [/^n2 warning peer_tls\.cert .* expires in 9 days/])
    t.equal(troubles(shown, 'peer_tls').length, 1)
    t.match(
      shown.nodes.map(({ certificates }) => certificates.map(({ setting, term }) => `${setting} ${term}`)),
      [
        ['peer_tls.ca valid', 'peer_tls.cert valid'],
        ['peer_tls.ca valid', 'peer_tls.cert endsSoon'],
        ['peer_tls.ca valid', 'peer_tls.cert valid'],
      ],
    )
  })

  await t.test('an error at one member is seen at another, and ends the command with 1', async (t) => {
    const token = join(certs, 'owner.token')
    writeFileSync(token, cluster.setup.ownerToken, { mode: 0o600 })
    const access = ['--admin-endpoint', cluster.node('n1').adminUrl, '--token-file', token]
    const run = () => runCommand('cluster', 'doctor', ...access)
    t.match(await run(), { code: 0, out: /n2 +warning +peer_tls: / })
    const other = cluster.node('n3').dataDir
    chmodSync(other, 0o777)
    t.match(troubles(await ask(), 'data_dir'), [/^n3 error .*mode 777/])
    t.match(await run(), { code: 1, out: /n3 +error +data_dir: / })
    chmodSync(other, 0o700)
  })

  await t.test('a member that does not run is not known, and not fine', async (t) => {
    await cluster.signal('n3', 'SIGKILL')
    const { nodes } = await ask()
    t.match(nodes, [{ answer: 'known' }, { answer: 'known' }, { answer: 'unreachable', findings: [] }])
  })
})
