/**
 * `holdfast config create`: nodes accept its files, and it writes all of them or none.
 */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { MasterKey } from '../../src/access/master-key.ts'
import { examineConfig } from '../../src/config/load-config.ts'
import { type Printed, runCommand } from '../helpers/run-command.ts'

function folderOf(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-create-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

const run = (dir: string, ...argv: readonly string[]): Promise<Printed> =>
  runCommand('config', 'create', '--dir', dir, ...argv)

const THREE = ['--node', 'n1=10.0.0.1', '--node', 'n2=store.example.net', '--node', 'n3=fd00::3'] as const

t.test('config create', async (t) => {
  const dir = join(folderOf(t), 'cluster')
  const { code, out, err } = await run(dir, ...THREE, '--zone', 'n2=rack-2', '--port', '7000')
  t.equal(code, 0, err)
  t.strictSame(readdirSync(dir).toSorted(), [
    'ca.key',
    'ca.pem',
    'master.key',
    ...['n1', 'n2', 'n3'].flatMap((id) => [`${id}.key`, `${id}.pem`, `${id}.yaml`]),
  ])
  await t.test('writes configurations that a node accepts, of one cluster', async (t) => {
    const configs = ['n1', 'n2', 'n3'].map((id) => examineConfig(join(dir, `${id}.yaml`), {}))
    t.strictSame(
      configs.flatMap(({ faults }) => faults),
      [],
    )
    t.equal(new Set(configs.map(({ config }) => config?.cluster.id)).size, 1)
    t.match(configs[2]?.config, {
      node: { id: 'n3', dataDir: '/var/lib/holdfast' },
      listeners: { data: '[fd00::3]:7000', admin: '[fd00::3]:7001', peer: '[fd00::3]:7002' },
      cluster: {
        members: [
          { nodeId: 'n1', peerAddress: '10.0.0.1:7002', zone: 'default' },
          { nodeId: 'n2', peerAddress: 'store.example.net:7002', zone: 'rack-2' },
          { nodeId: 'n3', peerAddress: '[fd00::3]:7002' },
        ],
      },
    })
  })
  await t.test('keeps secrets to their owner and prints none', async (t) => {
    t.equal(statSync(dir).mode & 0o777, 0o700)
    for (const name of ['ca.key', 'master.key', 'n1.key']) {
      t.equal(statSync(join(dir, name)).mode & 0o777, 0o600, name)
      const [secret = ''] = /[\w+/-]{40,}/.exec(readFileSync(join(dir, name), 'utf8')) ?? []
      t.ok(secret.length >= 40 && !out.includes(secret), name)
    }
    t.equal((await MasterKey.load(join(dir, 'master.key'))).ids.length, 1)
  })
  await t.test('writes nothing into a folder that holds anything', async (t) => {
    const used = folderOf(t)
    writeFileSync(join(used, 'notes.txt'), 'mine')
    t.match(await run(used, ...THREE), { code: 3, err: /is not empty: it contains 'notes.txt'/ })
    t.strictSame(readdirSync(used), ['notes.txt'])
  })
  await t.test('writes nothing when an argument is wrong', async (t) => {
    const wrong: readonly (readonly [args: readonly string[], message: RegExp])[] = [
      [['--node', 'n1'], /'n1' is no node.*\n.*--node ID=HOST/],
      [['--node', 'N 1=10.0.0.1'], /node\.id/],
      [['--node', 'n1=a_b'], /neither a DNS name nor an IP address/],
      [['--node', 'n1=10.0.0.1', '--node', 'n1=10.0.0.2'], /'n1' appears twice/],
      [['--node', 'n1=10.0.0.1', '--node', 'n2=10.0.0.1'], /'10\.0\.0\.1:9002' appears twice/],
      [['--node', 'n1=10.0.0.1', '--zone', 'n2=a'], /names 'n2', which is no --node/],
      [['--node', 'n1=10.0.0.1', '--cluster-id', 'a/b'], /cluster\.id/],
      [['--node', 'n1=10.0.0.1', '--port', '65534'], /whole number from 1 to 65533/],
      [[], /--node/],
    ]
    for (const [args, message] of wrong) {
      const folder = join(folderOf(t), 'cluster')
      t.match(await run(folder, ...args), { code: 2, err: message }, args.join(' '))
      t.strictSame(existsSync(folder) ? readdirSync(folder) : [], [], 'nothing is written')
    }
  })
  await t.test('prints one object with --json, and warns below three nodes without', async (t) => {
    const json = JSON.parse((await run(join(folderOf(t), 'a'), ...THREE, '--json')).out)
    t.match(json, {
      clusterId: /^[0-9a-f]{32}$/,
      nodes: [{ nodeId: 'n1' }, { nodeId: 'n2' }, { nodeId: 'n3' }],
    })
    t.match((await run(join(folderOf(t), 'b'), '--node', 'n1=10.0.0.1')).out, /with 3 one may fail/)
  })
})
