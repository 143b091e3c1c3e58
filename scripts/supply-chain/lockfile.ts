/**
 * The packages that the lockfile names, as data.
 *
 * Owns: reading the lockfile. Knows nothing of: what is done with a package. Rule: what is installed is what the lockfile says, so nothing
 * is read from node_modules; the order does not depend on the machine.
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
        readonly dev?: boolean
        readonly dependencies?: Readonly<Record<string, string>>
        readonly optionalDependencies?: Readonly<Record<string, string>>
      }
    >
  >
}

export interface LockedProject {
  readonly name: string
  readonly version: string
  readonly license: string | null
  readonly dependsOn: readonly string[]
  /** By path. */
  readonly packages: readonly LockedPackage[]
}

export function readLockedProject(): LockedProject {
  return lockedProject(JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as Lockfile)
}

function lockedProject({ packages }: Lockfile): LockedProject {
  const found = Object.entries(packages)
    .filter(([path]) => path !== '')
    .map(([path, entry]) => ({
      path,
      name: entry.name ?? path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length),
      version: entry.version ?? '',
      license: entry.license ?? null,
      integrity: entry.integrity ?? null,
      isDev: entry.dev === true,
      dependsOn: Object.keys({ ...entry.dependencies, ...entry.optionalDependencies }).sort(),
    }))
    .sort((a, b) => (a.path < b.path ? -1 : 1))
  const root = packages['']
  return {
    name: root?.name ?? '',
    version: root?.version ?? '',
    license: root?.license ?? null,
    dependsOn: Object.keys(root?.dependencies ?? {}).sort(),
    packages: found,
  }
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
