/**
 * `holdfast certs`: Node and OpenSSL accept its certificates, and no file is ever overwritten.
 */
import { execFileSync } from 'node:child_process'
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { type Printed, runCommand } from '../helpers/run-command.ts'
import { opensslVersion } from '../transport/test-certificates.ts'

interface Shown {
  readonly certificateFile: string
  readonly keyFile: string
  readonly certificate: { readonly names: readonly string[]; readonly daysLeft: number }
}

function folderOf(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-certs-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

const run = (...argv: readonly string[]): Promise<Printed> => runCommand('certs', ...argv)

async function made(t: Test, ...argv: readonly string[]): Promise<Shown> {
  const { code, out, err } = await run(...argv, '--json')
  t.equal(code, 0, err)
  return JSON.parse(out)
}

t.test('certs init', async (t) => {
  const dir = join(folderOf(t), 'certs')
  const { certificateFile, keyFile } = await made(t, 'init', '--dir', dir, '--cluster-id', 'test-cluster')
  await t.test('makes an authority that signs leaves and nothing else', async (t) => {
    const authority = new X509Certificate(readFileSync(certificateFile))
    t.ok(authority.ca)
    t.ok(authority.verify(authority.publicKey))
    t.ok(authority.checkPrivateKey(createPrivateKey(readFileSync(keyFile))))
    t.equal(authority.subjectAltName, 'URI:holdfast://test-cluster')
  })
  await t.test('keeps key and folder to its owner [tls.certs-init]', async (t) => {
    t.equal(statSync(keyFile).mode & 0o777, 0o600)
    t.equal(statSync(dir).mode & 0o777, 0o700)
  })
  await t.test('overwrites no file, and adds none beside an existing one [tls.exit-codes]', async (t) => {
    const before = [certificateFile, keyFile].map((file) => readFileSync(file, 'utf8'))
    t.match(await run('init', '--dir', dir), { code: 3, err: /already exists/ })
    t.same(
      before,
      [certificateFile, keyFile].map((file) => readFileSync(file, 'utf8')),
    )
    const half = folderOf(t)
    writeFileSync(join(half, 'ca.pem'), 'mine')
    t.match(await run('init', '--dir', half), { code: 3 })
    t.same(readdirSync(half), ['ca.pem'])
  })
  await t.test('makes a cluster id if none is given, and refuses one that a node would refuse', async (t) => {
    const fresh = await made(t, 'init', '--dir', join(folderOf(t), 'a'))
    t.match(fresh.certificate.names, [/^URI:holdfast:\/\/[0-9a-f]{32}$/])
    t.match(await run('init', '--dir', join(folderOf(t), 'b'), '--cluster-id', 'a/b'), { code: 2 })
    t.match(await run('init', '--dir', join(folderOf(t), 'b'), '--days', '0'), { code: 2 })
  })
})

t.test('certs issue', async (t) => {
  const dir = folderOf(t)
  const ca = await made(t, 'init', '--dir', dir, '--cluster-id', 'test-cluster', '--days', '100')
  const authority = new X509Certificate(readFileSync(ca.certificateFile))
  const n1 = await made(
    t,
    'issue',
    '--dir',
    dir,
    '--node',
    'n1',
    '--host',
    '10.0.0.1',
    '--host',
    'a.example.net',
    '--host',
    'fd00::1',
  )
  const leaf = new X509Certificate(readFileSync(n1.certificateFile))

  await t.test('names node and cluster, and the hosts for clients [tls.certs-issue]', async (t) => {
    t.ok(leaf.verify(authority.publicKey))
    t.ok(leaf.checkIssued(authority))
    t.notOk(leaf.ca)
    t.ok(leaf.checkPrivateKey(createPrivateKey(readFileSync(n1.keyFile))))
    t.equal(statSync(n1.keyFile).mode & 0o777, 0o600)
    t.ok(leaf.checkHost('a.example.net'))
    t.ok(leaf.checkIP('10.0.0.1'))
    t.ok(leaf.checkIP('fd00::1'))
    t.has(n1.certificate.names, ['DNS:n1'])
    t.ok(n1.certificate.names.includes('URI:holdfast://test-cluster/n1'))
  })
  await t.test('expires with its authority at the latest', async (t) => {
    t.equal(leaf.validTo, authority.validTo)
    const short = await made(t, 'issue', '--dir', dir, '--node', 'n9', '--days', '2')
    t.equal(short.certificate.daysLeft, 1, 'and after --days')
  })
  await t.test('passes the strict rules of openssl', { skip: opensslVersion() === null }, async (t) => {
    const verified = execFileSync('openssl', [
      'verify',
      '-x509_strict',
      '-purpose',
      'sslserver',
      '-CAfile',
      ca.certificateFile,
      n1.certificateFile,
    ])
    t.match(String(verified), /: OK/)
  })
  await t.test('overwrites no file, not even the authority', async (t) => {
    t.match(await run('issue', '--dir', dir, '--node', 'n1'), { code: 3, err: /already exists/ })
    t.match(await run('issue', '--dir', dir, '--node', 'ca'), { code: 3 })
    const again = await made(t, 'issue', '--dir', dir, '--node', 'n1', '--out', join(dir, 'new'))
    t.notSame(readFileSync(again.keyFile), readFileSync(n1.keyFile))
  })
  await t.test('refuses invalid names of nodes and hosts', async (t) => {
    for (const node of ['N1', 'a.b', '../n1', '']) {
      t.match(await run('issue', '--dir', dir, '--node', node), { code: 2 }, node)
    }
    for (const host of ['*.example.net', 'a b', 'https://a', 'a..b', `${'a'.repeat(64)}.net`]) {
      const refused = await run('issue', '--dir', dir, '--node', 'n2', '--host', host)
      t.match(refused, { code: 2, err: /neither a DNS name nor an IP address/ }, host)
    }
    t.notOk(existsSync(join(dir, 'n2.key')))
  })
  await t.test('signs only with the authority of a cluster', async (t) => {
    const empty = folderOf(t)
    t.match(await run('issue', '--dir', empty, '--node', 'n2'), { code: 1, err: /Cannot read/ })
    const mixed = folderOf(t)
    await made(t, 'init', '--dir', join(mixed, 'other'))
    const put = (name: string, file: string) => writeFileSync(join(mixed, name), readFileSync(file))
    put('ca.pem', ca.certificateFile)
    put('ca.key', join(mixed, 'other', 'ca.key'))
    t.match(await run('issue', '--dir', mixed, '--node', 'n2'), { code: 1, err: /belongs to another/ })
    put('ca.pem', n1.certificateFile)
    put('ca.key', n1.keyFile)
    t.match(await run('issue', '--dir', mixed, '--node', 'n2'), {
      code: 1,
      err: /not that of a cluster CA/,
    })
    put('ca.key', ca.certificateFile)
    const damaged = await run('issue', '--dir', mixed, '--node', 'n2')
    t.match(damaged, { code: 1, err: /key cannot be read as PEM/ })
  })
})

t.test('certs show', async (t) => {
  const dir = folderOf(t)
  await made(t, 'init', '--dir', dir, '--cluster-id', 'test-cluster')
  const { certificateFile, keyFile } = await made(t, 'issue', '--dir', dir, '--node', 'n1')
  const { out } = await run('show', certificateFile)
  const leaf = new X509Certificate(readFileSync(certificateFile))
  t.match(out, 'node n1 of cluster test-cluster')
  t.match(out, leaf.fingerprint256)
  t.match(out, '364 days left')
  const bundle = join(dir, 'bundle.pem')
  writeFileSync(
    bundle,
    [certificateFile, keyFile, join(dir, 'ca.pem')].map((file) => readFileSync(file)).join(''),
  )
  const all = await run('show', bundle, '--json')
  t.same(
    JSON.parse(all.out).certificates.map((one: { nodeId: string | null }) => one.nodeId),
    ['n1', null],
  )
  t.notMatch(all.out, 'PRIVATE', 'the key beside them is not shown')
  const key = readFileSync(keyFile, 'utf8')
  const refused = await run('show', keyFile)
  t.match(refused, { code: 1, err: /contains 0 PEM certificates/ })
  t.notMatch(refused.err, key.split('\n')[1] ?? '')
  t.match(await run('show', join(dir, 'nothing')), { code: 1, err: /Cannot read/ })
})
