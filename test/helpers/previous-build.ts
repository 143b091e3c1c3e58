/**
 * The version before this one, checked out from the history, for tests in which both run side by side.
 *
 * Owns: which commit that is. Rule: the commit changes with each release, never within one: clusters run released versions.
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, realpathSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bundle } from '../../scripts/build/bundle.ts'
import { temporaryFolder } from './process-cluster.ts'

/** Its highest feature level. */
export const PREVIOUS_LEVEL = 2
/** The last commit with that level. */
const COMMIT = 'fbc2da6659c044b4f0c9aada8c3ea5bfdeac18da'
const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const TREE_BYTES_MAX = 256 * 1024 * 1024

/** Its main file, bundled as this build is; null where the history does not reach that commit, as in a shallow clone. */
export function previousBuild(t: Parameters<typeof temporaryFolder>[0]): string | null {
  const archive = spawnSync('git', ['archive', COMMIT, 'package.json', 'cluster', 'src'], {
    cwd: ROOT,
    maxBuffer: TREE_BYTES_MAX,
  })
  if (archive.status !== 0) return null
  const folder = join(temporaryFolder(t), 'previous')
  mkdirSync(folder)
  const unpacked = spawnSync('tar', ['-x', '-C', folder], { input: archive.stdout })
  if (unpacked.status !== 0) throw new Error(`Cannot unpack ${COMMIT}: ${unpacked.stderr.toString()}`)
  symlinkSync(realpathSync(join(ROOT, 'node_modules')), join(folder, 'node_modules'))
  const place = join(folder, 'dist', 'bundle')
  bundle(folder, place)
  return join(place, 'main.js')
}
