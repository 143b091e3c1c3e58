/**
 * Which files of the repository are pages and assets of the site, where they lie there, and in which part of it.
 *
 * Rule: a document of docs/ or deploy/ is a page without being named here; a part names only what stands first.
 */
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface Source {
  /** Relative to the root of the repository. */
  readonly file: string
  /** Relative to the root of the site. */
  readonly path: string
  readonly section: SectionId
}

export type SectionId =
  | 'start'
  | 'guide'
  | 'operate'
  | 'runbooks'
  | 'reference'
  | 'commands'
  | 'api'
  | 'inside'
  | 'formats'
  | 'benchmarks'
  | 'adr'

export interface Section {
  readonly id: SectionId
  readonly title: string
  readonly about: string
  /** Its overview. */
  readonly path: string
}

/** As they are shown. */
export const SECTIONS: readonly Section[] = [
  {
    id: 'start',
    title: 'Start',
    about: 'From nothing to an object, to three machines, from another store',
    path: 'start.html',
  },
  { id: 'guide', title: 'Guide', about: 'Each feature, with lines to type', path: 'guide/index.html' },
  {
    id: 'operate',
    title: 'Operate',
    about: 'Configuration, containers, metrics, security, promises',
    path: 'operate.html',
  },
  {
    id: 'runbooks',
    title: 'Runbooks',
    about: 'What to do when something is wrong, or is to change',
    path: 'runbooks/index.html',
  },
  { id: 'reference', title: 'Reference', about: 'Errors, settings, S3 actions', path: 'reference.html' },
  {
    id: 'commands',
    title: 'Commands',
    about: 'Every command of holdfast with its options',
    path: 'commands/index.html',
  },
  { id: 'api', title: 'API', about: 'Every operation of both planes', path: 'api/index.html' },
  { id: 'inside', title: 'Inside', about: 'How it is built, and how to change it', path: 'inside.html' },
  { id: 'formats', title: 'Formats', about: 'Bytes on disk and on the wire', path: 'formats/index.html' },
  {
    id: 'benchmarks',
    title: 'Measurements',
    about: 'Figures, and how they were taken',
    path: 'benchmarks/index.html',
  },
  { id: 'adr', title: 'Decisions', about: 'Why it is as it is', path: 'adr/index.html' },
]

const FIRST: readonly (readonly [file: string, section: SectionId])[] = [
  ['README.md', 'start'],
  ['docs/guide/first-object.md', 'start'],
  ['docs/guide/three-machines.md', 'start'],
  ['docs/guide/moving-from-minio.md', 'start'],
  ['docs/sizing.md', 'start'],
  ['docs/installing.md', 'start'],
  ['docs/guide/README.md', 'guide'],
  ['docs/guide/client.md', 'guide'],
  ['docs/guide/command-line.md', 'guide'],
  ['packages/client/README.md', 'guide'],
  ['deploy/README.md', 'operate'],
  ['docs/observability.md', 'operate'],
  ['docs/doctor.md', 'operate'],
  ['RELIABILITY.md', 'operate'],
  ['SECURITY.md', 'operate'],
  ['docs/versioning.md', 'operate'],
  ['CHANGELOG.md', 'operate'],
  ['docs/configuration.md', 'reference'],
  ['docs/errors.md', 'reference'],
  ['docs/start-errors.md', 'reference'],
  ['docs/s3-compatibility.md', 'reference'],
  ['docs/glossary.md', 'reference'],
  ['ARCHITECTURE.md', 'inside'],
  ['CONTRIBUTING.md', 'inside'],
  ['docs/formats/README.md', 'formats'],
]

const REST: readonly (readonly [pattern: string, section: SectionId])[] = [
  ['docs/guide/*.md', 'guide'],
  ['deploy/runbooks/*.md', 'runbooks'],
  ['docs/formats/*.md', 'formats'],
  ['docs/benchmarks/*.md', 'benchmarks'],
  ['docs/adr/*.md', 'adr'],
  ['docs/*.md', 'inside'],
]

/** Handed on as they are. */
const ASSETS = ['docs/**/*.{svg,webp}', 'docs/openapi/*.json']

/** Pages in the order of their sections. */
export function sourcesOf(root: string): readonly Source[] {
  const first = FIRST.filter(([file]) => existsSync(join(root, file)))
  const rest = REST.flatMap(([pattern, section]) =>
    globSync(pattern, { cwd: root })
      .map(slashed)
      .toSorted()
      .map((file) => [file, section] as const),
  )
  const sections = new Map<string, SectionId>()
  for (const [file, section] of [...first, ...rest]) if (!sections.has(file)) sections.set(file, section)
  return [...sections].map(([file, section]) => ({ file, section, path: sitePath(file) }))
}

/** File in the repository -> path in the site. */
export function assetsOf(root: string): ReadonlyMap<string, string> {
  const files = ASSETS.flatMap((pattern) => globSync(pattern, { cwd: root }).map(slashed)).toSorted()
  return new Map(files.map((file) => [file, sitePath(file)]))
}

const slashed = (path: string): string => path.replaceAll('\\', '/')

/** Where a file of the repository lies in the site. */
export function sitePath(file: string): string {
  if (file === 'packages/client/README.md') return 'client-package.html'
  const place = file.replace(/^docs\//, '').replace(/^deploy\/runbooks\//, 'runbooks/')
  return place
    .replace(/\/README\.md$/, '/index.html')
    .replace(/\.md$/, '.html')
    .toLowerCase()
}

export function read(root: string, file: string): string {
  return readFileSync(join(root, file), 'utf8')
}
