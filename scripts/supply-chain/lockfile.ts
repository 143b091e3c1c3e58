/**
 * The packages that the lockfile names, as data.
 *
 * Owns: reading the lockfile, and which packages are part of a node: those that are installed with it, and those inside its bundle, which for
 * npm are development dependencies and are named under `bundled` in package.json (docs/adr/0077-the-package.md).
 * Knows nothing of: what is done with a package. Rule: what is installed is what the lockfile says, so nothing is read from node_modules; the
 * order does not depend on the machine.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const ROOT = fileURLToPath(new URL('../../', import.meta.url))

export interface LockedPackage {
  /** Where it is installed, such as node_modules/a/node_modules/b. */
  readonly path: string
  readonly name: string
  readonly version: string
  /** As the package says it, an SPDX expression; null: it does not say. */
  readonly license: string | null
  /** Such as `sha512-` and base64; null: none. */
  readonly integrity: string | null
  /** Only for work on the project, never part of a node. */
  readonly isDev: boolean
  /** Installed with the package, beside its bundle. */
  readonly isInstalled: boolean
  readonly dependsOn: readonly string[]
}

interface Lockfile {
  readonly packages: Readonly<
    Record<
      string,
      {
        readonly name?: string
        readonly version?: string
        readonly license?: string
        readonly integrity?: string
        readonly dependencies?: Readonly<Record<string, string>>
        readonly optionalDependencies?: Readonly<Record<string, string>>
      }
    >
  >
}

interface Manifest {
  /** Names of packages. */
  readonly bundled?: readonly string[]
}

export interface LockedProject {
  readonly name: string
  readonly version: string
  readonly license: string | null
  /** What a node consists of: the packages that are installed with it, and those in its bundle. */
  readonly dependsOn: readonly string[]
  /** By path. */
  readonly packages: readonly LockedPackage[]
}

export function readLockedProject(): LockedProject {
  const parsed = (file: string): unknown => JSON.parse(readFileSync(join(ROOT, file), 'utf8'))
  return lockedProject(parsed('package-lock.json') as Lockfile, parsed('package.json') as Manifest)
}

function lockedProject({ packages }: Lockfile, { bundled = [] }: Manifest): LockedProject {
  const root = packages['']
  const installed = Object.keys({ ...root?.dependencies, ...root?.optionalDependencies })
  const dependsOn = [...new Set([...installed, ...bundled])].sort()
  const found = Object.entries(packages)
    .filter(([path]) => path !== '')
    .map(([path, entry]) => ({
      path,
      name: entry.name ?? path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length),
      version: entry.version ?? '',
      license: entry.license ?? null,
      integrity: entry.integrity ?? null,
      isDev: true,
      isInstalled: false,
      dependsOn: Object.keys({ ...entry.dependencies, ...entry.optionalDependencies }).sort(),
    }))
    .sort((a, b) => (a.path < b.path ? -1 : 1))
  const ofNode = reachable(found, dependsOn)
  const besides = reachable(found, installed)
  return {
    name: root?.name ?? '',
    version: root?.version ?? '',
    license: root?.license ?? null,
    dependsOn,
    packages: found.map((item) => ({
      ...item,
      isDev: !ofNode.has(item.path),
      isInstalled: besides.has(item.path),
    })),
  }
}

/** The paths of these packages of the root, and of what they depend on, directly or through others. */
function reachable(packages: readonly LockedPackage[], names: readonly string[]): ReadonlySet<string> {
  const byPath = new Map(packages.map((item) => [item.path, item]))
  const targets = (path: string, wanted: readonly string[]): readonly string[] =>
    wanted.flatMap((name) => resolved(byPath, path, name)?.path ?? [])
  const found = new Set(targets('', names))
  // A set is walked to its end, also over what is added meanwhile.
  for (const path of found)
    for (const target of targets(path, byPath.get(path)?.dependsOn ?? [])) found.add(target)
  return found
}

/** The package that `name` means for the package at `path`: the nearest one on the way to the root, as Node.js finds it. */
export function resolved(
  byPath: ReadonlyMap<string, LockedPackage>,
  path: string,
  name: string,
): LockedPackage | null {
  for (let folder = path; ; ) {
    const found = byPath.get(`${folder === '' ? '' : `${folder}/`}node_modules/${name}`)
    if (found !== undefined) return found
    if (folder === '') return null
    const above = folder.lastIndexOf('/node_modules/')
    folder = above === -1 ? '' : folder.slice(0, above)
  }
}
