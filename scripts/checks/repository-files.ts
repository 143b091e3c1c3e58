/**
 * Which files git tracks or would track, and which of them differ from a commit.
 *
 * Owns: the calls of git. Rule: a file that git ignores does not exist here; one that was removed differs.
 */
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'

const OUTPUT_BYTES_MAX = 64 * 1024 * 1024

function git(root: string, ...args: readonly string[]): readonly string[] {
  const out = execFileSync('git', [...args], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: OUTPUT_BYTES_MAX,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  return out.split('\0').filter((path) => path !== '')
}

/** Paths from `root`, which is the root of the repository. */
export function repositoryFiles(root: string): readonly string[] {
  const listed = git(root, 'ls-files', '-z', '--cached', '--others', '--exclude-standard')
  return [...new Set(listed)].filter((path) => existsSync(join(root, path)))
}

/** What differs from `since`, or from where this branch left it, with files that were removed and files that git does not know yet. */
export function changedFiles(root: string, since: string): readonly string[] {
  let differing: readonly string[]
  try {
    git(root, 'rev-parse', '--verify', '--quiet', '--end-of-options', `${since}^{commit}`)
    differing = git(root, 'diff', '-z', '--name-only', '--no-renames', '--merge-base', since, '--')
  } catch (cause) {
    throw new Error(
      `Cannot compare with '${since}': expected a branch or a commit that shares history with HEAD`,
      { cause },
    )
  }
  const unknown = git(root, 'ls-files', '-z', '--others', '--exclude-standard')
  return [...new Set([...differing, ...unknown])].toSorted()
}
