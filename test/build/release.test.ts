/** A release: the same bytes each time, everything in its checksums, and a signature that other programs verify. */
import { spawnSync } from 'node:child_process'
import { createHash, createPublicKey, generateKeyPairSync, verify } from 'node:crypto'
import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { copyCleanTree } from '../../scripts/release/clean-tree.ts'
import { releaseFaults } from '../../scripts/release/release-faults.ts'
import { readSigningKey } from '../../scripts/release/signing.ts'
import { makeTarball } from '../../scripts/release/tarball.ts'
import { writeRelease } from '../../scripts/release/write-release.ts'
import { readLockedProject, ROOT } from '../../scripts/supply-chain/lockfile.ts'
import { temporaryFolder } from '../helpers/process-cluster.ts'

const digestOf = (file: string): string => createHash('sha256').update(readFileSync(file)).digest('hex')

t.test('a release', { timeout: 600_000 }, async (t) => {
  const folder = temporaryFolder(t)
  const [tree, out] = [join(folder, 'tree'), join(folder, 'out')]
  mkdirSync(out)
  const keyFile = join(folder, 'release.key')
  const { privateKey } = generateKeyPairSync('ed25519')
  writeFileSync(keyFile, privateKey.export({ type: 'pkcs8', format: 'pem' }))
  const key = readSigningKey(keyFile)
  copyCleanTree(ROOT, tree)
  const parts = writeRelease(tree, out, { key, hasProgram: () => false, epoch: 0 })
  const { version } = readLockedProject()
  const tarball = `holdfast-${version}.tgz`

  t.test('names every part, made or left out', async (t) => {
    t.same(parts, [
      { file: tarball },
      { file: `holdfast-${version}.cdx.json` },
      { file: `holdfast-${version}.licences.txt` },
      { name: 'image', skipped: 'podman is not installed' },
      { name: 'Debian package', skipped: 'dpkg-deb is not installed' },
      { file: `holdfast-${version}.chart.tgz` },
      { file: 'SHA256SUMS' },
      { file: 'SHA256SUMS.sig' },
      { file: 'release.pub' },
    ])
    t.same(readdirSync(out).sort(), parts.flatMap((part) => ('file' in part ? part.file : [])).sort())
  })

  t.test('has the checksum of each of its files, signed', async (t) => {
    const check = spawnSync('sha256sum', ['--check', 'SHA256SUMS'], { cwd: out, encoding: 'utf8' })
    t.equal(check.status, 0, check.stderr)
    t.equal(check.stdout.trim().split('\n').length, 4)
    const read = (name: string): Buffer => readFileSync(join(out, name))
    const publicKey = createPublicKey(read('release.pub'))
    t.ok(verify(null, read('SHA256SUMS'), publicKey, read('SHA256SUMS.sig')))
    const line = 'pkeyutl -verify -pubin -inkey release.pub -rawin -in SHA256SUMS -sigfile SHA256SUMS.sig'
    const openssl = spawnSync('openssl', line.split(' '), { cwd: out, encoding: 'utf8' })
    if (openssl.error === undefined)
      t.match(openssl.stdout, /Signature Verified Successfully/, openssl.stderr)
  })

  t.test('has the chart with its scripts, in the folder that helm expects', async (t) => {
    const list = spawnSync('tar', ['--list', '--file', join(out, `holdfast-${version}.chart.tgz`)], {
      encoding: 'utf8',
    })
    for (const file of ['Chart.yaml', 'values.schema.json', 'templates/nodes.yaml', 'files/start.mjs'])
      t.match(list.stdout, `\nholdfast/${file}\n`, file)
  })

  t.test('lists each package of a node with its licence', async (t) => {
    const text = readFileSync(join(out, `holdfast-${version}.licences.txt`), 'utf8')
    t.match(text, /^fastify \S+ {2}MIT {2}in the bundle$/m)
    t.match(text, /^classic-level \S+ {2}MIT {2}installed with it$/m)
    t.notMatch(text, /^typescript /m)
    t.match(text, /Permission is hereby granted/)
  })

  t.test('is the same tarball from the same files, wherever and however they were checked out', async (t) => {
    const [clone, other] = [join(folder, 'clone'), join(folder, 'another place', 'deeper')]
    cpSync(tree, clone, { recursive: true, filter: (path) => !/\/(node_modules|dist)$/.test(path) })
    for (const file of ['README.md', 'docs/errors.md']) chmodSync(join(clone, file), 0o600)
    spawnSync('git', ['init', '--quiet'], { cwd: clone })
    symlinkSync(join(ROOT, 'node_modules'), join(clone, 'node_modules'))
    copyCleanTree(clone, other)
    t.equal(digestOf(makeTarball(other, join(folder, 'again'))), digestOf(join(out, tarball)))
  })
})

t.test('a release is refused', async (t) => {
  const root = temporaryFolder(t)
  const git = (...args: readonly string[]) =>
    spawnSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', ...args], { cwd: root, encoding: 'utf8' })
  const faults = (isTagged = true): readonly string[] => releaseFaults(root, '1.2.3', { isTagged })
  t.match(faults()[0], /This is no clone/)
  git('init', '--quiet')
  writeFileSync(join(root, 'a.txt'), '')
  t.match(faults(), [/not committed, such as 'a\.txt'/, /no section for 1\.2\.3/])
  writeFileSync(join(root, 'CHANGELOG.md'), '## [1.2.3] - Unreleased\n')
  git('add', '.')
  git('commit', '--quiet', '--message', 'all')
  t.same(faults(false), [], 'a rehearsal is not')
  t.match(faults(), [/calls 1\.2\.3 unreleased/])
  writeFileSync(join(root, 'CHANGELOG.md'), '## [1.2.3] - 2026-01-01\n')
  git('commit', '--quiet', '--all', '--message', 'date')
  t.same(faults(), [])
  git('tag', 'v1.2.3')
  t.match(faults(), [/The tag v1\.2\.3 exists/])

  const file = join(root, 'key')
  writeFileSync(file, 'no key')
  t.throws(() => readSigningKey(file), /contains no private key .*openssl genpkey/)
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey
  writeFileSync(file, rsa.export({ type: 'pkcs8', format: 'pem' }))
  t.throws(() => readSigningKey(file), /a key of type rsa, not Ed25519/)
})
