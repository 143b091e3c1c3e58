/**
 * The Debian package under a real systemd: installed, started, reloaded, upgraded, removed, purged. Only with `npm test -- --whole`, and where this
 * machine can.
 */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import t from 'tap'
import { debianVersion } from '../../scripts/release/debian-package.ts'
import { ROOT } from '../../scripts/supply-chain/lockfile.ts'
import { temporaryFolder } from '../helpers/process-cluster.ts'
import { PLAYS_WHOLE } from '../helpers/proof-size.ts'
import { withoutLoader } from '../helpers/without-loader.ts'

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

t.test('the Debian package under systemd', { skip: reasonToSkip(), timeout: 900_000 }, async (t) => {
  const folder = temporaryFolder(t)
  const program = (name: string): string => join(ROOT, 'scripts', 'release', name)
  const made = spawnSync(...withoutLoader(process.execPath, program('try-debian.ts'), folder), {
    encoding: 'utf8',
  })
  t.equal(made.status, 0, made.stderr)
  const tried = spawnSync(...withoutLoader('sh', program('try-debian.sh'), folder), { encoding: 'utf8' })
  for (const [, what] of tried.stdout.matchAll(/^ok - (.*)$/gm)) t.pass(what ?? '')
  t.equal(tried.status, 0, `${tried.stdout}${tried.stderr}`.slice(-2000))
})
