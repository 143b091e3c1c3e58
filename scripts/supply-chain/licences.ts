/**
 * `npm run licences`: fails when a package has a licence that is not on the list.
 *
 * Owns: the lists. Knows nothing of: why a package is needed (docs/adr/0006-dependencies.md). Rules: a package of a node needs a permissive
 * licence; packages for work on the project are not handed on, so a few more are allowed there; a package that does not say its licence needs a
 * row of its own with the place where it was read.
 */
import { argv } from 'node:process'
import { fileURLToPath } from 'node:url'
import { type LockedPackage, readLockedProject } from './lockfile.ts'

const OF_A_NODE: ReadonlySet<string> = new Set([
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'CC0-1.0',
  'ISC',
  'MIT',
  'Unlicense',
])
const OF_WORK_ALONE: ReadonlySet<string> = new Set([...OF_A_NODE, 'CC-BY-3.0', 'EPL-2.0', 'MPL-2.0'])
/** Packages whose metadata says nothing, with the licence that was read in their own files. */
const READ_BY_HAND: Readonly<Record<string, string>> = { 'jsonc-simple-parser@3.0.0': 'MIT' }

/** One sentence for each package that is not allowed. */
export function licenceFindings(packages: readonly LockedPackage[]): readonly string[] {
  return packages.flatMap((item) => {
    const { name, version, isDev } = item
    const license = item.license ?? READ_BY_HAND[`${name}@${version}`] ?? null
    if (license !== null && isAllowed(license, isDev ? OF_WORK_ALONE : OF_A_NODE)) return []
    const said = license === null ? 'does not say its licence' : `has the licence ${license}`
    const where = isDev ? 'work on the project' : 'a node'
    return [
      `${name}@${version} ${said}, which is not on the list for ${where} in scripts/supply-chain/licences.ts`,
    ]
  })
}

/** Of an SPDX expression: of alternatives one must be allowed, of licences that hold together each. */
export function isAllowed(expression: string, allowed: ReadonlySet<string>): boolean {
  const bare = expression.trim().replace(/^\(([^()]*)\)$/, '$1')
  if (/[()]/.test(bare)) return false
  return bare
    .split(/\s+OR\s+/)
    .some((alternative) => alternative.split(/\s+AND\s+/).every((id) => allowed.has(id.trim())))
}

if (argv[1] === fileURLToPath(import.meta.url)) {
  const { packages } = readLockedProject()
  const findings = licenceFindings(packages)
  for (const finding of findings) process.stdout.write(`${finding}\n`)
  process.stdout.write(`licences: ${packages.length} packages, ${findings.length} findings\n`)
  process.exitCode = findings.length === 0 ? 0 : 1
}
