/**
 * This build under another version, for tests in which a console and a node, or two nodes, are not of one build.
 *
 * Owns: where it is built. Rule: it differs in its version alone, as a build with a repaired fault does; builds of an older release are in previous-build.ts.
 */
import { mkdirSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bundle } from '../../scripts/build/bundle.ts'
import { temporaryFolder } from './process-cluster.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const SHARED = ['cluster', 'src', 'packages', 'node_modules']

/** Its main file. */
export function otherBuild(t: Parameters<typeof temporaryFolder>[0], version: string): string {
  const folder = join(temporaryFolder(t), 'other')
  mkdirSync(folder)
  for (const name of SHARED) symlinkSync(realpathSync(join(ROOT, name)), join(folder, name))
  const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as object
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ ...manifest, version }))
  const place = join(folder, 'dist', 'bundle')
  bundle(folder, place)
  return join(place, 'main.js')
}
