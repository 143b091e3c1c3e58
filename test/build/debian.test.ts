/**
 * The Debian package under a real systemd: installed, started, reloaded, upgraded, removed, purged, on the root of this machine and, where
 * HOLDFAST_DEBIAN_ROOT names one, on a clean root; and the same bytes from the same files. Only with `npm test -- --whole`, and where this machine can.
 * A clean root, which is not changed:
 *
 *   debootstrap --variant=minbase --include=ca-certificates,systemd,adduser,iproute2 bookworm FOLDER
 */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { copyCleanTree } from '../../scripts/release/clean-tree.ts'
import { debianVersion, makeDebianPackage } from '../../scripts/release/debian-package.ts'
import { makeTarball } from '../../scripts/release/tarball.ts'
import { readLockedProject, ROOT } from '../../scripts/supply-chain/lockfile.ts'
import { temporaryFolder } from '../helpers/process-cluster.ts'
import { PLAYS_WHOLE } from '../helpers/proof-size.ts'
import { withoutLoader } from '../helpers/without-loader.ts'

/** Of debootstrap, with systemd, adduser and iproute2. */
const CLEAN_ROOT = process.env['HOLDFAST_DEBIAN_ROOT']

/** False: it can be tried here. */
function reasonToSkip(): string | false {
  if (!PLAYS_WHOLE) return 'it is part of the whole proof'
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'it needs Linux and root'
  for (const name of ['dpkg-deb', 'systemd-notify', 'unshare', 'setpriv', 'ip'])
    if (spawnSync(name, ['-V']).error !== undefined) return `${name} is not installed`
  return false
}

t.test('versions are ordered as dpkg does it', async (t) => {
  t.equal(debianVersion('1.2.3'), '1.2.3')
  t.equal(debianVersion('1.2.3-rc.1'), '1.2.3~rc.1', 'before the release')
})

t.test('the Debian package under systemd', { skip: reasonToSkip(), timeout: 1_800_000 }, async (t) => {
  const folder = temporaryFolder(t)
  const program = (name: string): string => join(ROOT, 'scripts', 'release', name)
  const made = spawnSync(...withoutLoader(process.execPath, program('try-debian.ts'), folder), {
    encoding: 'utf8',
  })
  t.equal(made.status, 0, made.stderr)
  const tryOn = (t: Test, ...root: readonly string[]): void => {
    const tried = spawnSync(...withoutLoader('sh', program('try-debian.sh'), folder, ...root), {
      encoding: 'utf8',
    })
    for (const [, what] of tried.stdout.matchAll(/^ok - (.*)$/gm)) t.pass(what ?? '')
    t.equal(tried.status, 0, `${tried.stdout}${tried.stderr}`.slice(-2000))
  }
  await t.test('on the root of this machine', async (t) => tryOn(t))
  const skip = CLEAN_ROOT === undefined ? 'HOLDFAST_DEBIAN_ROOT names no root' : false
  await t.test('on a clean root', { skip }, async (t) => tryOn(t, CLEAN_ROOT ?? ''))
})

t.test(
  'two builds of the Debian package are equal',
  { skip: reasonToSkip(), timeout: 900_000 },
  async (t) => {
    const folder = temporaryFolder(t)
    const project = readLockedProject()
    const build = (place: string, staging = join(folder, place)): string => {
      const tree = join(folder, place, 'tree')
      const out = join(folder, place, 'out')
      mkdirSync(out, { recursive: true })
      copyCleanTree(ROOT, tree)
      const tarball = makeTarball(tree, join(folder, place, 'npm'))
      const input = { tree, tarball, project, node: process.execPath, epoch: 1_700_000_000 }
      const file = makeDebianPackage({ ...input, compression: 'none' }, join(staging, 'staging'), out)
      return createHash('sha256')
        .update(readFileSync(join(out, file)))
        .digest('hex')
    }
    const first = build('one')
    const mask = process.umask(0o077)
    t.teardown(() => process.umask(mask))
    // Its folders have other sizes than those of a disk.
    const memory = mkdtempSync(existsSync('/dev/shm') ? '/dev/shm/holdfast-' : join(folder, 'memory-'))
    t.teardown(() => rmSync(memory, { recursive: true, force: true }))
    const again = build('another place', memory)
    t.equal(again, first, 'in another folder and file system, at another time, with another mask')
  },
)
