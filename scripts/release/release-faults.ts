/**
 * What keeps the present commit from being a release.
 *
 * Owns: the conditions. Rule: each fault says what to do.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const git = (root: string, ...args: readonly string[]) =>
  spawnSync('git', [...args], { cwd: root, encoding: 'utf8' })

/** Empty: nothing. `isTagged`: the release also makes its tag. */
export function releaseFaults(
  root: string,
  version: string,
  { isTagged }: { readonly isTagged: boolean },
): string[] {
  const faults: string[] = []
  const status = git(root, 'status', '--porcelain')
  if (status.status !== 0) faults.push('This is no clone: a release is made of the files that git knows')
  else if (status.stdout !== '')
    faults.push(
      `Files are not committed, such as '${status.stdout.split('\n')[0]?.slice(3)}': commit or remove them`,
    )
  const changelog = join(root, 'CHANGELOG.md')
  const text = existsSync(changelog) ? readFileSync(changelog, 'utf8') : ''
  const heading = text.split('\n').find((line) => line.startsWith(`## [${version}]`))
  if (heading === undefined)
    faults.push(`CHANGELOG.md has no section for ${version}: write what changes for its users`)
  else if (isTagged && heading.endsWith('Unreleased'))
    faults.push(`CHANGELOG.md calls ${version} unreleased: give it its date before the tag`)
  if (isTagged && git(root, 'rev-parse', '--verify', '--quiet', `refs/tags/v${version}`).status === 0)
    faults.push(`The tag v${version} exists: raise the version in package.json`)
  return faults
}
