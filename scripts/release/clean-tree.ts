/**
 * A copy of the repository's files in a folder of its own, from which a release is built.
 *
 * Owns: which files, and their modes. Rules: what git ignores is not copied, so nothing of this machine reaches a release; modes are set, because
 * they depend on how a clone was made; packages are those of this clone, which the lockfile names.
 */
import { chmodSync, copyFileSync, mkdirSync, rmSync, statSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { repositoryFiles } from '../checks/repository-files.ts'

const ANY_EXECUTE = 0o111

/** `folder` is emptied first. */
export function copyCleanTree(root: string, folder: string): void {
  rmSync(folder, { recursive: true, force: true })
  for (const path of repositoryFiles(root)) {
    const target = join(folder, path)
    mkdirSync(dirname(target), { recursive: true })
    copyFileSync(join(root, path), target)
    chmodSync(target, (statSync(target).mode & ANY_EXECUTE) === 0 ? 0o644 : 0o755)
  }
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
}
