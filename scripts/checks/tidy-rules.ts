/**
 * Rules about this repository that the compiler and the linter cannot check, over file texts.
 *
 * Owns: the rules. Knows nothing of: the disk; tidy.ts reads the files, the fence test passes in violations.
 * Rule of rules: a message says what is wrong and what to do instead.
 */
import { refusedWords } from './words.ts'

export interface SourceFile {
  /** Relative to the root, with forward slashes. */
  readonly path: string
  readonly text: string
}

export interface Finding {
  readonly path: string
  readonly message: string
}

type Rule = (file: SourceFile) => readonly string[]

const LINES_MAX = 400
/** Written by a program, and not meant for reading. */
const GENERATED = /\/generated\//
const PURE_ROOMS = ['cluster/raft/', 'cluster/placement/', 'src/state-machine/']
const HEADER_EXEMPT = /^(test\/|scripts\/.*\.mjs$)/
/** Built from pieces so that this file does not contain what it forbids. */
const LEFT_OVER = new RegExp(
  `\\b(${['TO', 'DO'].join('')}(?!\\(#\\d+\\))|${['FIX', 'ME'].join('')}|${['XX', 'X'].join('')})\\b`,
)
const ESCAPE = new RegExp(
  `${['@ts', '-'].join('')}(ignore|nocheck|expect-error)|\\bas ${'any'}\\b|as unknown ${'as'}|(oxlint|eslint|biome)-(disable|ignore)`,
)

/** Files that every folder of the same half may import: the ids of Raft, and the public index of `cluster/`. */
const RAFT_TYPES = 'cluster/raft/types.ts'
const CLUSTER_DOOR = 'cluster/index.ts'

/** The folders from which a folder may import; the pure folders have a separate rule. A folder without a row is a finding. [style: imports] */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  'cluster/base/': [RAFT_TYPES],
  'cluster/wal/': ['cluster/base/', RAFT_TYPES],
  'cluster/transport/': ['cluster/base/', RAFT_TYPES],
  'cluster/blobs/': ['cluster/base/', 'cluster/transport/', 'cluster/placement/', RAFT_TYPES],
  'cluster/node/': ['cluster/base/', 'cluster/raft/', 'cluster/wal/', 'cluster/transport/'],
  'cluster/directory/': ['cluster/base/', 'cluster/node/', 'cluster/transport/', RAFT_TYPES],
  'cluster/quorum-recovery/': [
    'cluster/base/',
    'cluster/blobs/',
    'cluster/node/',
    'cluster/raft/',
    'cluster/wal/',
    'cluster/directory/',
  ],
  'cluster/raft-half/': [
    'cluster/base/',
    'cluster/directory/',
    'cluster/node/',
    'cluster/quorum-recovery/',
    'cluster/transport/',
    'cluster/wal/',
    RAFT_TYPES,
  ],
  'cluster/raft-thread/': [
    'cluster/base/',
    'cluster/directory/',
    'cluster/node/',
    'cluster/raft-half/',
    'cluster/transport/',
    RAFT_TYPES,
  ],
  'cluster/repair/': ['cluster/base/', 'cluster/blobs/', 'cluster/placement/', RAFT_TYPES],
  'src/base/': ['src/state-machine/', CLUSTER_DOOR],
  // A client like any other: it knows the contract documents and nothing of the service.
  'packages/client/': [],
  'packages/console/': ['packages/client/'],
  'src/client/': ['packages/client/'],
  'src/config/': ['src/base/', CLUSTER_DOOR],
  'src/telemetry/': ['src/config/', CLUSTER_DOOR],
  'src/commands/': ['src/base/', 'src/state-machine/', CLUSTER_DOOR],
  'src/audit/': ['src/state-machine/', CLUSTER_DOOR],
  'src/store/': ['src/base/', 'src/commands/', 'src/state-machine/', CLUSTER_DOOR],
  'src/access/': ['src/base/', 'src/config/', 'src/state-machine/', 'src/store/', CLUSTER_DOOR],
  'src/limits/': ['src/base/', 'src/config/', 'src/state-machine/', CLUSTER_DOOR],
  'src/content/': [
    'src/access/',
    'src/base/',
    'src/config/',
    'src/state-machine/',
    'src/store/',
    CLUSTER_DOOR,
  ],
  'src/operations/': [
    'src/access/',
    'src/audit/',
    'src/backup/',
    'src/base/',
    'src/commands/',
    'src/config/',
    'src/content/',
    'src/limits/',
    'src/state-machine/',
    'src/store/',
    'src/telemetry/',
    CLUSTER_DOOR,
  ],
  'src/api/': [
    'src/access/',
    'src/audit/',
    'src/base/',
    'src/config/',
    'src/content/',
    'src/limits/',
    'src/operations/',
    'src/state-machine/',
    'src/telemetry/',
    CLUSTER_DOOR,
  ],
  'src/backup/': [
    'src/access/',
    'src/api/s3/xml/',
    'src/base/',
    'src/content/',
    'src/s3-client/',
    'src/state-machine/',
    'src/store/',
    CLUSTER_DOOR,
  ],
  'src/workers/': [
    'src/access/',
    'src/api/s3/xml/',
    'src/audit/',
    'src/backup/',
    'src/base/',
    'src/commands/',
    'src/content/',
    'src/operations/',
    'src/s3-client/',
    'src/state-machine/',
    'src/store/',
    CLUSTER_DOOR,
  ],
  'src/quorum-recovery/': [
    'src/access/',
    'src/audit/',
    'src/commands/',
    'src/config/',
    'src/state-machine/',
    'src/store/',
    'src/telemetry/',
    CLUSTER_DOOR,
  ],
  'src/doctor/': [
    'src/access/',
    'src/api/local/',
    'src/backup/',
    'src/base/',
    'src/config/',
    'src/operations/',
    'src/store/state/',
    CLUSTER_DOOR,
  ],
  'src/service/': [
    'src/access/',
    'src/api/',
    'src/audit/',
    'src/backup/',
    'src/base/',
    'src/commands/',
    'src/config/',
    'src/content/',
    'src/doctor/',
    'src/limits/',
    'src/operations/',
    'src/state-machine/',
    'src/store/',
    'src/telemetry/',
    'src/workers/',
    CLUSTER_DOOR,
  ],
  'src/s3-client/': ['src/access/', 'src/api/s3/xml/', 'src/base/'],
  'src/cli/': [
    'src/access/',
    'src/api/local/',
    'src/api/s3/xml/',
    'src/api/server/',
    'src/backup/',
    'src/base/',
    'src/client/',
    'src/config/',
    'src/doctor/',
    'src/quorum-recovery/',
    'src/s3-client/',
    'src/service/',
    'src/state-machine/',
    'src/store/state/',
    'src/telemetry/',
    'src/workers/',
    CLUSTER_DOOR,
  ],
}

/** Resolves a relative specifier against the importing file. */
export function resolveImport(from: string, specifier: string): string {
  const parts = from.split('/').slice(0, -1)
  for (const step of specifier.split('/')) {
    if (step === '..') parts.pop()
    else if (step !== '.') parts.push(step)
  }
  return parts.join('/')
}

export function importsOf(text: string): readonly string[] {
  return [...text.matchAll(/^(?:import|export)\s[^'"]*?from\s+'([^']+)'|^import\s+'([^']+)'/gm)].map(
    (m) => m[1] ?? m[2] ?? '',
  )
}

/** Imported files of this repository, as paths relative to the root. */
export function relativeImportsOf({ path, text }: SourceFile): readonly string[] {
  return importsOf(text)
    .filter((specifier) => specifier.startsWith('.'))
    .map((specifier) => resolveImport(path, specifier))
}

const withoutComments = (text: string): string =>
  text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|\s)\/\/.*$/gm, '$1')

/** The two words also occur in English prose; directives that silence checks are in comments and stay visible. */
const withoutProse = (text: string): string => text.replace(/\bas any (?=[a-z])/g, '')
const withoutTexts = (code: string): string => code.replace(/'(?:[^'\\\n]|\\.)*'/g, "''")

const staysShort: Rule = ({ path, text }) => {
  if (GENERATED.test(path)) return []
  const lines = text.split('\n').length
  return lines > LINES_MAX ? [`has ${lines} lines, at most ${LINES_MAX}: split it by responsibility`] : []
}

const opensWithHeader: Rule = ({ path, text }) =>
  HEADER_EXEMPT.test(path) || text.startsWith('/**') || text.startsWith('#!')
    ? []
    : ['does not open with a header comment: say what it owns, what it refuses to know and its rule']

const hasPlainName: Rule = ({ path }) => {
  const name = path.split('/').at(-1) ?? ''
  const problems: string[] = []
  if (!/^[a-z0-9]+(-[a-z0-9]+)*(\.test)?\.(tsx?|mjs)$/.test(name)) problems.push('is not named in kebab-case')
  if (/\b(utils?|helpers?|common|misc|manager|impl)\b/.test(name.replaceAll('-', ' '))) {
    problems.push('has a name that says nothing: name it after what it exports')
  }
  return problems
}

const pureRoomIsPure: Rule = ({ path, text }) => {
  const room = PURE_ROOMS.find((candidate) => path.startsWith(candidate))
  if (room === undefined) return []
  const code = withoutComments(text)
  const found = code.match(
    /\b(await|async|Promise|Date|performance|setTimeout|setInterval|queueMicrotask|globalThis|process|Buffer|console)\b|Math\.random/,
  )
  const problems = found
    ? [`uses '${found[0]}' in a pure room: pass it in as data, or return it as an effect`]
    : []
  for (const specifier of importsOf(text)) {
    if (!specifier.startsWith('.') || !resolveImport(path, specifier).startsWith(room))
      problems.push(`imports '${specifier}': a pure room imports its own folder only`)
  }
  return problems
}

const importsFitTheTable: Rule = ({ path, text }) => {
  const room = /^(cluster|packages|src)\/[^/]+\//.exec(path)?.[0]
  if (room === undefined || PURE_ROOMS.includes(room)) return []
  const others = MAY_IMPORT[room]
  if (!others)
    return [
      `is in ${room}, which has no row in the import table of scripts/checks/tidy-rules.ts: give it one`,
    ]
  const allowed = [room, ...others]
  return relativeImportsOf({ path, text })
    .filter((target) => !allowed.some((prefix) => target.startsWith(prefix)))
    .map((target) => `imports ${target}: ${room} may import ${allowed.join(', ')} only`)
}

const leavesNothingOpen: Rule = ({ text }) => {
  const problems: string[] = []
  const open = LEFT_OVER.exec(text)
  if (open) problems.push(`contains '${open[0]}': finish it, or name the issue as in (#12)`)
  const escape = ESCAPE.exec(withoutProse(text))
  if (escape)
    problems.push(`contains '${escape[0]}': fix the type or the code instead of silencing the check`)
  return problems
}

const testsDoNotSleep: Rule = ({ path, text }) =>
  path.endsWith('.test.ts') &&
  /\.(skip|only|todo)\(|setTimeout\(|\bsleep\(|\bdelay\(/.test(withoutTexts(withoutComments(text)))
    ? ['skips, focuses or sleeps: wait for a condition or move the virtual clock']
    : []

/** It checks only scopes: a caller that used it instead of `authorize` would ignore the denials of a bucket policy. */
const asksThePolicies: Rule = ({ path, text }) =>
  path.startsWith('src/') &&
  !['src/access/authorize.ts', 'src/api/serve-route.ts', 'src/api/s3/entry/serve-s3.ts'].includes(path) &&
  /\brefuseBeforeBody\b/.test(withoutComments(text))
    ? ["uses 'refuseBeforeBody', which knows no bucket policies: call authorize"]
    : []

const speaksThroughTheLogger: Rule = ({ path, text }) =>
  /^(cluster|packages|src)\//.test(path) &&
  !path.startsWith('src/cli/') &&
  /(?<!\.)\bconsole\.(log|error|warn|info|debug|trace|table|dir|assert|count|group|time)\b/.test(
    withoutComments(text),
  )
    ? ['writes to the console: use the logger it was given']
    : []

const SOURCE_RULES: readonly Rule[] = [
  staysShort,
  opensWithHeader,
  hasPlainName,
  pureRoomIsPure,
  importsFitTheTable,
  leavesNothingOpen,
  testsDoNotSleep,
  speaksThroughTheLogger,
  asksThePolicies,
]

export function checkSource(file: SourceFile): readonly Finding[] {
  return SOURCE_RULES.flatMap((rule) => rule(file).map((message) => ({ path: file.path, message })))
}

/** Folders of the product import each other without cycles; imports of types count too. One finding for each folder in a cycle. */
export function checkFolders(files: readonly SourceFile[]): readonly Finding[] {
  const imports = new Map<string, Map<string, string>>()
  for (const file of files) {
    if (!/^(cluster|packages|src)\//.test(file.path)) continue
    const folder = folderOf(file.path)
    for (const target of relativeImportsOf(file)) {
      if (folderOf(target) === folder) continue
      const others = imports.get(folder) ?? new Map<string, string>()
      imports.set(folder, others.set(folderOf(target), `${file.path} -> ${target}`))
    }
  }
  return [...imports.keys()].flatMap((folder) => {
    const way = wayBack(imports, folder)
    return way === null
      ? []
      : [{ path: folder, message: `imports itself through other folders: ${way.join(', ')}` }]
  })
}

const folderOf = (path: string): string => path.slice(0, path.lastIndexOf('/') + 1)

/** The shortest chain of imports from the folder back to itself, by breadth-first search; null: there is none. */
function wayBack(
  imports: ReadonlyMap<string, ReadonlyMap<string, string>>,
  start: string,
): readonly string[] | null {
  const ways = new Map<string, readonly string[]>([[start, []]])
  for (const [folder, way] of ways) {
    for (const [next, edge] of imports.get(folder) ?? []) {
      if (next === start) return [...way, edge]
      if (!ways.has(next)) ways.set(next, [...way, edge])
    }
  }
  return null
}

/** The repository contains no path of a machine, no registry host and no refused word; every dependency has a reason in an ADR. */
export function checkRepository(input: {
  readonly lockfile: string
  readonly dependencies: readonly string[]
  readonly decisions: string
  readonly texts: readonly SourceFile[]
}): readonly Finding[] {
  const findings: Finding[] = []
  if (/"resolved":\s*"https?:/.test(input.lockfile)) {
    findings.push({
      path: 'package-lock.json',
      message: 'names a registry host: keep omit-lockfile-registry-resolved in .npmrc',
    })
  }
  for (const name of input.dependencies) {
    if (!input.decisions.includes(`\`${name}\``))
      findings.push({
        path: 'package.json',
        message: `depends on ${name}, which no record in docs/adr explains`,
      })
  }
  for (const file of input.texts) {
    const path = /(^|[\s'"`(])\/(work|root|home)\/[a-z]/.exec(file.text)
    if (path)
      findings.push({ path: file.path, message: `contains the path of a machine: '${path[0].trim()}'` })
    for (const message of refusedWords(file)) findings.push({ path: file.path, message })
  }
  return findings
}
