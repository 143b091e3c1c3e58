/**
 * Makes two versions of the Debian package for scripts/release/try-debian.sh: `node scripts/release/try-debian.ts FOLDER`.
 *
 * Owns: nothing of the trial itself. Rule: both have the same program, so only the way of packages is tried; they are not compressed.
 */
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT, readLockedProject } from '../supply-chain/lockfile.ts'
import { copyCleanTree } from './clean-tree.ts'
import { makeDebianPackage } from './debian-package.ts'
import { makeTarball } from './tarball.ts'

const [folder = ''] = process.argv.slice(2)
if (folder === '') throw new Error('Name a folder for the two packages')
const tree = join(folder, 'tree')
mkdirSync(folder, { recursive: true })
copyCleanTree(ROOT, tree)
const tarball = makeTarball(tree, join(folder, 'npm'))
const project = readLockedProject()
for (const version of [`${project.version}-before`, project.version]) {
  const input = { tree, tarball, project: { ...project, version }, node: process.execPath, epoch: 0 }
  makeDebianPackage({ ...input, compression: 'none' }, join(folder, 'staging'), folder)
}
rmSync(tree, { recursive: true, force: true })
