/**
 * deploy/make-secrets.sh makes what the service accepts, never makes it twice, and refuses harmful input.
 */
import { type SpawnSyncReturns, spawnSync } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { connect, createServer } from 'node:tls'
import t from 'tap'
import { PeerTls } from '../../cluster/transport/peer-tls.ts'
import { MasterKey } from '../../src/access/master-key.ts'
import { loadConfig } from '../../src/config/load-config.ts'
import { temporaryFolder } from '../helpers/process-cluster.ts'
import { hasCommand, inRoot, NODES, read } from './files.ts'

const SCRIPT = inRoot('deploy/make-secrets.sh')
const OWNER = Number(/readonly OWNER=(\d+)/.exec(read('deploy/make-secrets.sh'))?.[1])
const UNPRIVILEGED = 65534
const FILES = ['ca.crt', 'master.key', 'node.crt', 'node.key']

const isRoot = process.getuid?.() === 0
const withOpenssl = hasCommand('openssl', 'version') ? false : 'the openssl command is missing'
const skip = isRoot ? withOpenssl : 'only root can give files to the user of the containers'

type Result = SpawnSyncReturns<string>

function makeSecrets(dir: string, ...nodes: readonly string[]): Result {
  return spawnSync('bash', [SCRIPT, '--dir', dir, ...nodes], { encoding: 'utf8', timeout: 60_000 })
}

/** Every file below a folder with its bytes, mode and owner. */
function contentOf(dir: string): Readonly<Record<string, string>> {
  const names = readdirSync(dir, { recursive: true, encoding: 'utf8' }).sort()
  return Object.fromEntries(
    names.map((name) => {
      const { mode, uid, gid } = statSync(join(dir, name))
      const bytes = statSync(join(dir, name)).isFile() ? readFileSync(join(dir, name), 'base64') : ''
      return [name, `${(mode & 0o777).toString(8)} ${uid}:${gid} ${bytes}`]
    }),
  )
}

const tlsOf = (folder: string, nodeId: string): PeerTls =>
  new PeerTls(tlsFiles(folder), { clusterId: 'test-cluster', nodeId })
const tlsFiles = (folder: string) => ({
  ca: join(folder, 'ca.crt'),
  cert: join(folder, 'node.crt'),
  key: join(folder, 'node.key'),
})

t.test('make-secrets', { skip }, async (t) => {
  const dir = join(temporaryFolder(t), 'secrets')
  const first = makeSecrets(dir)
  t.same([first.status, first.stderr], [0, ''], 'the first run')

  t.test('gives each node its files, readable only by that node', async (t) => {
    t.same(readdirSync(dir).sort(), ['ca', 'cluster.env', ...NODES])
    for (const node of NODES) {
      t.same(readdirSync(join(dir, node)).sort(), FILES)
      for (const path of [node, ...FILES.map((file) => join(node, file))]) {
        const { mode, uid, gid } = statSync(join(dir, path))
        t.same([mode & 0o777, uid, gid], [path === node ? 0o500 : 0o400, OWNER, OWNER], path)
      }
    }
    t.same([statSync(join(dir, 'ca')).mode & 0o777, statSync(join(dir, 'ca')).uid], [0o700, 0])
    for (const file of readdirSync(join(dir, 'ca')))
      t.equal(statSync(join(dir, 'ca', file)).mode & 0o077, 0, file)
  })

  t.test('writes a master key that the service reads, the same for all nodes', async (t) => {
    const original = await MasterKey.load(join(dir, 'ca', 'master.key'))
    for (const node of NODES) {
      t.equal((await MasterKey.load(join(dir, node, 'master.key'))).fingerprint, original.fingerprint)
    }
  })

  t.test('writes a cluster id that the configuration accepts', async (t) => {
    const [name = '', value = ''] = readFileSync(join(dir, 'cluster.env'), 'utf8').trim().split('=')
    const config = loadConfig(inRoot('deploy/node.yaml'), { HOLDFAST_NODE__ID: 'n1', [name]: value })
    t.equal(config.cluster.id, value)
  })

  t.test('issues certificates that name their node and no other', async (t) => {
    for (const node of NODES) {
      const certificate = new X509Certificate(readFileSync(join(dir, node, 'node.crt')))
      t.equal(certificate.subjectAltName, `DNS:${node}`)
      t.ok(certificate.verify(new X509Certificate(readFileSync(join(dir, 'ca', 'ca.crt'))).publicKey))
      t.notOk(certificate.ca)
      t.throws(() => tlsOf(join(dir, node), 'n9'), { code: 'peer_certificate_wrong_name' })
    }
  })

  t.test('issues certificates with which two nodes speak to each other', async (t) => {
    const server = createServer(tlsOf(join(dir, 'n1'), 'n1').server, (socket) => {
      t.equal(socket.authorized, true, 'the caller is known')
      socket.end('hello')
    })
    t.teardown(() => server.close())
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const { port } = server.address() as AddressInfo
    const n2 = tlsOf(join(dir, 'n2'), 'n2')
    const socket = connect({ port, host: '127.0.0.1', ...n2.client('n1') })
    t.equal(String((await once(socket, 'data'))[0]), 'hello')
    await once(connect({ port, host: '127.0.0.1', ...n2.client('n3') }), 'error')
  })

  t.test('changes nothing when it runs again', async (t) => {
    const before = contentOf(dir)
    const { status, stdout } = makeSecrets(dir)
    t.match([status, stdout], [0, /^Everything exists already/])
    t.strictSame(contentOf(dir), before)
  })

  t.test('makes what is missing and leaves the rest: another node, a renewed certificate', async (t) => {
    const before = contentOf(dir)
    rmSync(join(dir, 'n2', 'node.crt'))
    rmSync(join(dir, 'n2', 'node.key'))
    t.match(makeSecrets(dir, 'n2', 'n4').status, 0)
    const after = contentOf(dir)
    const changed = Object.keys(after).filter((path) => after[path] !== before[path])
    t.same(changed, ['n2/node.crt', 'n2/node.key', 'n4', ...FILES.map((file) => `n4/${file}`)])
    t.ok(tlsOf(join(dir, 'n4'), 'n4'))
  })

  t.test('never replaces the files that all nodes share', async (t) => {
    for (const shared of ['cluster.env', 'ca/master.key', 'ca/ca.key', 'ca/ca.crt']) {
      renameSync(join(dir, shared), `${dir}.kept`)
      const { status, stderr } = makeSecrets(dir, 'n5')
      t.match([status, stderr], [1, `${shared} is gone while nodes have been made`], shared)
      t.same([existsSync(join(dir, shared)), existsSync(join(dir, 'n5'))], [false, false])
      renameSync(`${dir}.kept`, join(dir, shared))
    }
  })
})

t.test('make-secrets refuses, and makes nothing', async (t) => {
  const folder = temporaryFolder(t)
  const refused = (result: Result, status: number, message: string): void => {
    t.match([result.status, result.stderr], [status, `make-secrets: ${message}`])
    t.same(
      readdirSync(folder).filter((name) => name.startsWith('secrets')),
      [],
    )
  }
  const dir = join(folder, 'secrets')

  await t.test('names that no node can have', async () => {
    for (const name of ['N1', 'n_1', '../n1', 'n1-', 'ca', 'n'.repeat(64)]) {
      refused(makeSecrets(dir, 'n1', name), 2, `'${name}' is not a node id`)
    }
  })
  await t.test('--dir without a folder', async () => {
    refused(spawnSync('bash', [SCRIPT, '--dir'], { encoding: 'utf8' }), 2, '--dir needs a folder')
  })
  await t.test('to continue without openssl', async () => {
    const tools = join(folder, 'bin')
    mkdirSync(tools)
    const which = spawnSync('bash', ['-c', 'command -v bash'], { encoding: 'utf8' }).stdout.trim()
    // `cd`, `pwd` and `command` are built in; dirname is the only program called before the check.
    const dirname = spawnSync('bash', ['-c', 'command -v dirname'], { encoding: 'utf8' }).stdout.trim()
    copyFileSync(dirname, join(tools, 'dirname'))
    const result = spawnSync(which, [SCRIPT, '--dir', dir], { encoding: 'utf8', env: { PATH: tools } })
    refused(result, 1, 'openssl is missing')
  })
  await t.test('to run without root', { skip: withOpenssl }, async () => {
    const copy = join(folder, 'make.sh')
    copyFileSync(SCRIPT, copy)
    chmodSync(folder, 0o755)
    const user = isRoot ? { uid: UNPRIVILEGED, gid: UNPRIVILEGED } : {}
    const result = spawnSync('bash', [copy, '--dir', dir], { encoding: 'utf8', cwd: '/', ...user })
    refused(result, 1, 'run it as root')
  })
})
