/**
 * `holdfast config create`: nodes accept its files, and it writes all of them or none.
 */
import { X509Certificate } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import t, { type Test } from 'tap'
import { MasterKey } from '../../src/access/master-key.ts'
import { examineConfig } from '../../src/config/load-config.ts'
import { type Printed, runCommand } from '../helpers/run-command.ts'

const NOT_ROOT = process.getuid?.() === 0 ? false : 'only root can give files away'

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
      [['--node', 'ca=10.0.0.1'], /No node can be named 'ca'/],
      [['--node', 'n1=10.0.0.1', '--owner', '10001:10001'], /--owner needs --node-folders/],
      [['--node', 'n1=10.0.0.1', '--node-folders', '--owner', 'holdfast'], /not UID:GID in numbers/],
      [['--node', 'n1=10.0.0.1', '--listen', 'all of them'], /listeners\.data/],
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

const BOXED = [...THREE, '--node-folders', '--listen', '0.0.0.0', '--plain', '--once'] as const
const OWN = ['ca.pem', 'master.key', 'node.key', 'node.pem', 'node.yaml']

t.test('config create --node-folders', async (t) => {
  const dir = join(folderOf(t), 'cluster')
  // As a container engine makes a folder that it mounts.
  mkdirSync(join(dir, 'n1'), { recursive: true })
  const { code, err } = await run(dir, ...BOXED)
  t.equal(code, 0, err)
  const contents = (): Readonly<Record<string, string>> =>
    Object.fromEntries(
      readdirSync(dir, { recursive: true, encoding: 'utf8', withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map(({ parentPath, name }) => join(parentPath, name))
        .map((file) => [relative(dir, file), readFileSync(file, 'utf8')]),
    )

  await t.test('gives each node all that it needs and no key of another', async (t) => {
    t.strictSame(readdirSync(dir).toSorted(), ['ca', 'n1', 'n2', 'n3'])
    t.strictSame(readdirSync(join(dir, 'ca')).toSorted(), ['ca.key', 'ca.pem', 'master.key'])
    for (const id of ['n1', 'n2', 'n3']) {
      const folder = join(dir, id)
      t.strictSame(readdirSync(folder).toSorted(), OWN)
      t.equal(statSync(folder).mode & 0o777, 0o700, id)
      for (const file of OWN) t.equal(statSync(join(folder, file)).mode & 0o077, 0, `${id}/${file}`)
      const { config, faults } = examineConfig(join(folder, 'node.yaml'), {})
      t.strictSame(faults, [])
      t.match(config, {
        node: { id },
        listeners: { data: '0.0.0.0:9000', peer: '0.0.0.0:9002', dataPlain: true, adminPlain: true },
        dataTls: null,
        adminTls: null,
        security: { masterKeyFile: join(folder, 'master.key') },
      })
      const certificate = new X509Certificate(readFileSync(join(folder, 'node.pem')))
      t.match(certificate.subjectAltName, new RegExp(`URI:holdfast://[0-9a-f]{32}/${id}$`))
      t.ok(certificate.verify(new X509Certificate(readFileSync(join(folder, 'ca.pem'))).publicKey))
    }
  })
  await t.test('--once changes nothing when it runs again', async (t) => {
    const before = contents()
    t.match(await run(dir, ...BOXED), { code: 0, out: /holds the files of this cluster already/ })
    t.match(JSON.parse((await run(dir, ...BOXED, '--json')).out), { created: false })
    t.strictSame(contents(), before)
  })
  await t.test('--once refuses a folder with a missing file, and leaves it', async (t) => {
    for (const lost of ['ca/master.key', 'n2/node.key', 'n3/node.yaml']) {
      renameSync(join(dir, lost), `${dir}.kept`)
      const before = contents()
      t.match(await run(dir, ...BOXED), { code: 3, err: new RegExp(`is incomplete: ${lost} missing`) })
      t.strictSame(contents(), before)
      renameSync(`${dir}.kept`, join(dir, lost))
    }
  })
  await t.test('--once does without the key of the authority, which may be kept elsewhere', async (t) => {
    rmSync(join(dir, 'ca', 'ca.key'))
    t.match(await run(dir, ...BOXED), { code: 0, out: /nothing was changed/ })
    t.notOk(existsSync(join(dir, 'ca', 'ca.key')))
  })
  await t.test('without --once a folder that is in use is refused', async (t) => {
    const [, ...rest] = BOXED.toReversed()
    t.match(await run(dir, ...rest.toReversed()), { code: 3, err: /is not empty/ })
  })
  await t.test(
    '--owner gives the folders of nodes away, not that of the operator',
    { skip: NOT_ROOT },
    async (t) => {
      const given = join(folderOf(t), 'given')
      t.equal((await run(given, ...BOXED, '--owner', '10001:10002')).code, 0)
      for (const path of ['n1', ...OWN.map((file) => join('n3', file))]) {
        const { uid, gid } = statSync(join(given, path))
        t.strictSame([uid, gid], [10001, 10002], path)
      }
      t.equal(statSync(join(given, 'ca', 'master.key')).uid, process.getuid?.())
    },
  )
})
