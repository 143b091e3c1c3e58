/**
 * A backup of a real node is read by a program of Perl that is written from the documents of the formats alone. [docs/formats/backup.md]
 */
import { execFile, spawnSync } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { until } from '../helpers/async.ts'
import { type ProcessCluster, sha256, temporaryFolder } from '../helpers/process-cluster.ts'
import { runCommand } from '../helpers/run-command.ts'
import { ended, startBackedUp, startBackup, verifyWith } from './backup-world.ts'

const READER = 'docs/formats/read-backup.pl'
/** The modules of Perl are those of Debian's package `perl`; its `perl-base` alone has fewer. */
const NO_PERL =
  spawnSync('perl', ['-c', READER]).status === 0 && spawnSync('openssl', ['version']).status === 0
    ? false
    : 'Perl with its standard modules, or openssl, is not on this machine'
/** Where the program zstd is not installed, Node.js expands. */
const ZSTD =
  spawnSync('zstd', ['--version']).status === 0
    ? 'zstd -dc'
    : `'${process.execPath}' -e 'process.stdin.pipe(require("zlib").createZstdDecompress()).pipe(process.stdout)'`

const CLIENT_KEY = randomBytes(32)
const CLIENT_HEADERS = {
  'x-service-customer-algorithm': 'AES256',
  'x-service-customer-key': CLIENT_KEY.toString('base64'),
  'x-service-customer-key-md5': createHash('md5').update(CLIENT_KEY).digest('base64'),
}
const MIB = 1024 * 1024

type Row = readonly [tenant: string, bucket: string, key: string, versionId: string, size: number]

async function put(cluster: ProcessCluster, path: string, body: Buffer, headers = {}): Promise<void> {
  const asked = { method: 'PUT', path: `/buckets/${path}`, body, headers } as const
  const { status, body: text } = await cluster.ask('n1', asked)
  if (status >= 300) throw new Error(`PUT ${path}: ${status} ${text.toString()}`)
}

async function assemble(cluster: ProcessCluster, key: string, parts: readonly Buffer[]): Promise<void> {
  const at = '/buckets/kept/multipart/'
  const started = await cluster.call('n1', 'POST', at + key, '{}')
  const { uploadId } = JSON.parse(started.body.toString()) as { readonly uploadId: string }
  const named: object[] = []
  for (const [n, body] of parts.entries()) {
    const path = `${at}${uploadId}/parts/${n + 1}/${key}`
    const stored = await cluster.ask('n1', { method: 'PUT', path, body })
    const { etag } = JSON.parse(stored.body.toString()) as { readonly etag: string }
    named.push({ partNumber: n + 1, etag })
  }
  const done = await cluster.call(
    'n1',
    'POST',
    `${at}${uploadId}/complete/${key}`,
    JSON.stringify({ parts: named }),
  )
  if (done.status !== 200) throw new Error(`complete ${key}: ${done.status} ${done.body.toString()}`)
}

async function exchangeKey(cluster: ProcessCluster): Promise<void> {
  const path = '/tenants/demo/encryption'
  const asked = { method: 'POST', path: `${path}/rotate`, body: { reason: 'a test' } } as const
  const { status, body } = await cluster.admin('n1', asked)
  if (status !== 202) throw new Error(`rotate: ${status} ${body.toString()}`)
  await until('the exchange has ended', async () => {
    const seen = await cluster.admin('n1', { method: 'GET', path })
    return seen.body.toString().includes('"exchange":null')
  })
}

const text = (size: number): Buffer => Buffer.alloc(size, 'lines that say the same compress well\n')

t.test('a backup, read by a program of Perl', { timeout: 900_000, skip: NO_PERL }, async (t) => {
  const { cluster, backups } = await startBackedUp(t, 1, 'cluster: { collect_after: 0ms }')
  await cluster.login('n1')
  await cluster.call('n1', 'POST', '/buckets', '{"name":"kept"}')
  await cluster.call('n1', 'PUT', '/buckets/kept/versioning', '{"status":"enabled"}')
  await put(cluster, 'kept/objects/empty', Buffer.alloc(0))
  await put(cluster, 'kept/objects/small', randomBytes(300))
  await put(cluster, 'kept/objects/small', randomBytes(301))
  await put(cluster, 'kept/objects/chunks', randomBytes(9_500_000))
  await put(cluster, `kept/objects/${encodeURIComponent('Größe/😀 a"b')}`, text(4 * MIB + 70_001))
  await assemble(cluster, 'assembled', [text(5 * MIB), randomBytes(5 * MIB), randomBytes(700)])
  await put(cluster, 'kept/objects/of-client', randomBytes(150_000), CLIENT_HEADERS)
  await cluster.call('n1', 'DELETE', '/buckets/kept/objects/chunks')
  await exchangeKey(cluster)
  await put(cluster, 'kept/objects/after', randomBytes(200_000))
  t.match(await ended(cluster, 'n1', (await startBackup(cluster, 'n1')).operationId), { status: 'succeeded' })

  const keyFile = join(dirname(cluster.node('n1').configFile), 'master.key')
  const from = join(backups, 'weekly')
  const perl = async (what: string, key: string, ...more: readonly string[]): Promise<Buffer> => {
    const words = [READER, what, '--from', from, '--key-file', key, '--zstd', ZSTD, ...more]
    const answer = await promisify(execFile)('perl', words, { encoding: 'buffer', maxBuffer: 64 * MIB })
    return answer.stdout
  }

  await t.test('lists every version and gives the bytes that clients read', async (t) => {
    const listed = (await perl('list', keyFile)).toString('utf8').trimEnd().split('\n')
    const rows = listed.map((line) => JSON.parse(line) as Row)
    const { body } = await cluster.call('n1', 'GET', '/buckets/kept/versions?maxKeys=1000')
    interface Seen {
      readonly key: string
      readonly versionId: string
      readonly size?: number
    }
    const { versions } = JSON.parse(body.toString()) as { readonly versions: readonly Seen[] }
    const objects = versions.flatMap(({ key, versionId, size }) =>
      size === undefined ? [] : [['demo', 'kept', key, versionId, size]],
    )
    t.strictSame(rows.map(String).toSorted(), objects.map(String).toSorted())
    t.equal(rows.length, 8)
    for (const [tenant, bucket, key, versionId] of rows) {
      const path = `/buckets/${bucket}/objects/${encodeURIComponent(key)}?versionId=${versionId}`
      const isOfClient = key === 'of-client'
      const { body: bytes } = await cluster.ask('n1', {
        method: 'GET',
        path,
        ...(isOfClient ? { headers: CLIENT_HEADERS } : {}),
      })
      const own = isOfClient ? ['--customer-key', CLIENT_KEY.toString('base64')] : []
      const read = await perl('get', keyFile, ...own, tenant, bucket, key, versionId)
      t.strictSame([key, versionId, read.length, sha256(read)], [key, versionId, bytes.length, sha256(bytes)])
    }
  })

  await t.test('gives nothing under another master key, or without the key of the client', async (t) => {
    const other = join(temporaryFolder(t), 'other.key')
    writeFileSync(other, `holdfast-master-key-1:mk-other:${randomBytes(32).toString('base64url')}\n`)
    await t.rejects(perl('list', other), /does not open/)
    const id = /:(mk-[^:]+):/.exec(String(spawnSync('cat', [keyFile]).stdout))?.[1] ?? ''
    writeFileSync(other, `holdfast-master-key-1:${id}:${randomBytes(32).toString('base64url')}\n`)
    await t.rejects(perl('list', other), /does not open/)
    await t.rejects(perl('get', keyFile, 'demo', 'kept', 'of-client'), /only the client has the key/)
  })

  await t.test('of a copy under another master key opens under that key alone', async (t) => {
    const folder = temporaryFolder(t)
    const key = join(folder, 'other.key')
    const text = `holdfast-master-key-1:mk-other:${randomBytes(32).toString('base64url')}\n`
    writeFileSync(key, text, { mode: 0o600 })
    const words = ['--config', cluster.node('n1').configFile, '--from', `directory:${from}`]
    const made = await runCommand(
      'backup',
      'reseal',
      ...words,
      '--to',
      `directory:${folder}`,
      '--under-key',
      key,
    )
    t.equal(made.code, 0, made.err)
    const copied = (what: string, keyOf: string, ...more: readonly string[]): Promise<Buffer> =>
      perl(what, keyOf, '--from', folder, ...more)
    t.strictSame(await copied('list', key), await perl('list', keyFile))
    for (const name of ['small', 'assembled', 'after'])
      t.ok(
        (await copied('get', key, 'demo', 'kept', name)).equals(
          await perl('get', keyFile, 'demo', 'kept', name),
        ),
      )
    await t.rejects(copied('list', keyFile), /does not open/)
    const again = await runCommand(
      'backup',
      'verify',
      '--config',
      cluster.node('n1').configFile,
      '--from',
      `directory:${folder}`,
    )
    t.not(again.code, 0)
    t.match(again.err, /does not open under any master key/)
  })

  await t.test('is whole for verify, with chunks of clients and after an exchange', async (t) => {
    const { code, verified } = await verifyWith(backups, cluster.node('n1').configFile)
    t.strictSame([code, verified.damages], [0, []])
  })
})
