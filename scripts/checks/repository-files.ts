/**
 * Lists the files that git tracks or would track, and those that differ from a commit.
 *
 * Owns: the calls of git. Rule: ignored files do not exist here; a removed file counts as different.
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

/** Paths relative to `root`, the root of the repository. */
export function repositoryFiles(root: string): readonly string[] {
  const listed = git(root, 'ls-files', '-z', '--cached', '--others', '--exclude-standard')
  return [...new Set(listed)].filter((path) => existsSync(join(root, path)))
}

/** Files that differ from the merge base with `since`, removed and untracked files included. */
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
