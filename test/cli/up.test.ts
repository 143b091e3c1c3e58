/** `holdfast up`: what it prints when it is ready, and when a node does not start. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join, sep } from 'node:path'
import t from 'tap'
import { commandName, environmentLines, readyText } from '../../src/cli/up/ready-text.ts'
import { bringUpCluster, type ClusterDescription } from '../../src/cli/up/up-command.ts'
import { freeBasePort, temporaryFolder } from '../helpers/process-cluster.ts'

const cluster: ClusterDescription = {
  ready: true,
  clusterId: 'c',
  dataDir: join(process.cwd(), 'data'),
  nodes: ['n1', 'n2'].map((nodeId, n) => ({
    nodeId,
    pid: 41 + n,
    dataUrl: `http://127.0.0.1:90${n}0`,
    adminUrl: `http://127.0.0.1:90${n}1`,
    peerAddress: `127.0.0.1:90${n}2`,
    dataDir: '',
    configFile: '',
  })),
  ownerToken: 'svcadm_x',
  tenantId: 'demo',
  accessKeyId: 'AK1',
  secretKey: 'S3',
}

t.test('the text of a cluster that is ready', async (t) => {
  t.same(environmentLines(cluster), [
    "export HOLDFAST_ENDPOINT='http://127.0.0.1:9000,http://127.0.0.1:9010'",
    "export HOLDFAST_ACCESS_KEY_ID='AK1'",
    "export HOLDFAST_SECRET_KEY='S3'",
    "export HOLDFAST_ADMIN_ENDPOINT='http://127.0.0.1:9001,http://127.0.0.1:9011'",
    "export HOLDFAST_ADMIN_TOKEN='svcadm_x'",
    "export HOLDFAST_TENANT='demo'",
  ])
  const text = readyText(cluster, 'npx holdfast')
  for (const line of [...environmentLines(cluster), 'npx holdfast bucket create demo'])
    t.ok(text.includes(`\n  ${line}\n`), line)
  t.match(text, /2 nodes, all data is in data\n/)
})

t.test('names the command as its reader has it', async (t) => {
  const installed = ['', 'p', 'node_modules', 'holdfast', 'dist', 'bundle', 'main.js'].join(sep)
  const npm = { npm_config_user_agent: 'npm/11' }
  t.equal(commandName({ program: installed, env: npm }), 'npx holdfast')
  t.equal(commandName({ program: installed, env: {} }), 'holdfast', 'a global installation')
  t.equal(commandName({ program: '/usr/lib/holdfast/main.js', env: npm }), 'holdfast')
  t.equal(
    commandName({ program: '/clone/main.js', env: { ...npm, npm_lifecycle_event: 'start' } }),
    'npm run -s holdfast --',
  )
})

t.test('a node that does not start is shown with the lines of this run, and of no other', async (t) => {
  const folder = temporaryFolder(t)
  const dir = join(folder, 'data')
  const program = join(folder, 'program.mjs')
  const basePort = await freeBasePort(1)
  for (const [run, other] of [
    ['first', 'second'],
    ['second', 'first'],
  ] as const) {
    writeFileSync(program, `console.error('${run} run'); process.exitCode = 1`)
    const error = await bringUpCluster({ nodes: 1, dir, basePort }, program).then(String, String)
    t.match(error, /Node n1 did not start\. The end of .*n1\.log:\n/)
    t.match(error, `${run} run`)
    t.notMatch(error, `${other} run`)
  }
  t.match(readFileSync(join(dir, 'n1.log'), 'utf8'), /first run\nsecond run/, 'the log keeps both')
})
