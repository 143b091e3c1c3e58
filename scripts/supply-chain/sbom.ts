/**
 * `npm run sbom`: the bill of materials as CycloneDX 1.6 JSON, on standard output. [ECMA-424]
 *
 * Owns: the form. Rules: it follows from the lockfile alone and holds no time and no random serial number, so that equal lockfiles give
 * equal bytes and a difference is a change of a package. What only work on the project needs has the scope `excluded`.
 */
import { argv } from 'node:process'
import { fileURLToPath } from 'node:url'
import { type LockedPackage, type LockedProject, readLockedProject, resolved } from './lockfile.ts'

interface Component {
  readonly type: 'application' | 'library'
  readonly 'bom-ref': string
  readonly name: string
  readonly version: string
  readonly purl: string
  readonly scope?: 'required' | 'excluded'
  readonly licenses?: readonly object[]
  readonly hashes?: readonly { readonly alg: string; readonly content: string }[]
}

interface Bom {
  readonly bomFormat: 'CycloneDX'
  readonly specVersion: '1.6'
  readonly version: 1
  readonly metadata: { readonly component: Component }
  readonly components: readonly Component[]
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[]
}

const DIGESTS: Readonly<Record<string, string>> = {
  sha1: 'SHA-1',
  sha256: 'SHA-256',
  sha384: 'SHA-384',
  sha512: 'SHA-512',
}

export function billOfMaterials(project: LockedProject): Bom {
  const byPath = new Map(project.packages.map((item) => [item.path, item]))
  const components = new Map<string, Component>()
  const edges = new Map<string, Set<string>>()
  const link = (from: string, path: string, names: readonly string[]): void => {
    const targets = edges.get(from) ?? new Set<string>()
    for (const name of names) {
      const target = resolved(byPath, path, name)
      if (target !== null) targets.add(purlOf(target))
    }
    edges.set(from, targets)
  }
  for (const item of project.packages) {
    const ref = purlOf(item)
    // One package may be installed at several places; it is required if one of them is.
    if (components.get(ref)?.scope !== 'required') components.set(ref, componentOf(item))
    link(ref, item.path, item.dependsOn)
  }
  const root = purlOf(project)
  link(root, '', project.dependsOn)
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: {
      component: {
        type: 'application',
        'bom-ref': root,
        ...named(project),
        licenses: licensesOf(project.license),
      },
    },
    components: [...components.values()].sort(byRef),
    dependencies: [...edges]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([ref, targets]) => ({ ref, dependsOn: [...targets].sort() })),
  }
}

function byRef(a: Component, b: Component): number {
  return a['bom-ref'] < b['bom-ref'] ? -1 : 1
}

function componentOf(item: LockedPackage): Component {
  return {
    type: 'library',
    'bom-ref': purlOf(item),
    ...named(item),
    scope: item.isDev ? 'excluded' : 'required',
    ...(item.license === null ? {} : { licenses: licensesOf(item.license) }),
    ...(item.integrity === null ? {} : { hashes: hashesOf(item.integrity) }),
  }
}

interface Named {
  readonly name: string
  readonly version: string
}

function named({ name, version }: Named): Named & { readonly purl: string } {
  return { name, version, purl: purlOf({ name, version }) }
}

/** As the package-url specification spells packages of npm. */
function purlOf({ name, version }: Named): string {
  return `pkg:npm/${name.replace('@', '%40')}@${version}`
}

function licensesOf(license: string | null): readonly object[] {
  if (license === null) return []
  return /^[A-Za-z0-9.+-]+$/.test(license) ? [{ license: { id: license } }] : [{ expression: license }]
}

function hashesOf(integrity: string): Component['hashes'] & object {
  return integrity.split(/\s+/).flatMap((entry) => {
    const dash = entry.indexOf('-')
    const alg = DIGESTS[entry.slice(0, dash)]
    return alg === undefined
      ? []
      : [{ alg, content: Buffer.from(entry.slice(dash + 1), 'base64').toString('hex') }]
  })
}

if (argv[1] === fileURLToPath(import.meta.url))
  process.stdout.write(`${JSON.stringify(billOfMaterials(readLockedProject()), null, 2)}\n`)
