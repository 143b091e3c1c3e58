/**
 * What the compiler and the linter cannot say about this repository, as rules over file texts.
 *
 * Owns: the rules. Knows nothing of the disk: tidy.ts reads the files, the fence test feeds violations.
 * Rule of rules: a message says what is wrong and what to do instead.
 */
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
/** Written by a program, and read by nobody from top to bottom. */
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

/** Which folders a room may import from; the pure rooms have a rule of their own. A room without a row is a finding. [style: imports] */
const MAY_IMPORT: readonly { readonly room: string; readonly rooms: readonly string[] }[] = [
  {
    room: 'cluster/wal/',
    rooms: [
      'cluster/wal/',
      'cluster/raft/types.ts',
      'cluster/node/clock.ts',
      'cluster/node/system-clock.ts',
      'cluster/types.ts',
    ],
  },
  {
    room: 'cluster/transport/',
    rooms: ['cluster/transport/', 'cluster/raft/types.ts', 'cluster/node/clock.ts', 'cluster/types.ts'],
  },
  {
    room: 'cluster/blobs/',
    rooms: [
      'cluster/blobs/',
      'cluster/transport/',
      'cluster/placement/',
      'cluster/raft/types.ts',
      'cluster/node/clock.ts',
      'cluster/types.ts',
    ],
  },
  {
    room: 'cluster/node/',
    rooms: ['cluster/node/', 'cluster/raft/', 'cluster/wal/', 'cluster/transport/', 'cluster/types.ts'],
  },
  {
    room: 'cluster/membership/',
    rooms: [
      'cluster/membership/',
      'cluster/node/',
      'cluster/raft/types.ts',
      'cluster/transport/',
      'cluster/repair/replace-file.ts',
      'cluster/blobs/file-ops.ts',
      'cluster/types.ts',
    ],
  },
  {
    room: 'cluster/recovery/',
    rooms: [
      'cluster/recovery/',
      'cluster/node/',
      'cluster/raft/',
      'cluster/wal/',
      'cluster/membership/',
      'cluster/blobs/disk-blob-store.ts',
      'cluster/data-lock.ts',
      'cluster/identity.ts',
      'cluster/types.ts',
    ],
  },
  {
    room: 'cluster/repair/',
    rooms: [
      'cluster/repair/',
      'cluster/blobs/',
      'cluster/placement/',
      'cluster/node/clock.ts',
      'cluster/types.ts',
    ],
  },
  {
    room: 'src/operations/',
    rooms: [
      'src/operations/',
      'src/access/',
      'src/audit/audit-trail.ts',
      'src/content/',
      'src/store/',
      'src/state-machine/',
      'src/telemetry/events.ts',
      'src/config/types.ts',
      'src/refusal.ts',
      'cluster/index.ts',
    ],
  },
  {
    room: 'src/api/',
    rooms: [
      'src/api/',
      'src/operations/',
      'src/access/',
      'src/audit/audit-trail.ts',
      'src/config/',
      'src/telemetry/',
      'src/content/',
      'src/state-machine/',
      'src/version.ts',
      'src/refusal.ts',
      'cluster/index.ts',
    ],
  },
  {
    room: 'src/store/',
    rooms: ['src/store/', 'src/state-machine/', 'cluster/index.ts'],
  },
  {
    room: 'src/access/',
    rooms: [
      'src/access/',
      'src/state-machine/records.ts',
      'src/store/state-reader.ts',
      'src/config/types.ts',
      'src/config/nearest.ts',
      'src/refusal.ts',
      'cluster/index.ts',
    ],
  },
  {
    room: 'src/content/',
    rooms: [
      'src/content/',
      'src/access/',
      'src/state-machine/records.ts',
      'src/state-machine/commands.ts',
      'src/store/state-reader.ts',
      'src/config/types.ts',
      'src/refusal.ts',
      'cluster/index.ts',
    ],
  },
  { room: 'src/audit/', rooms: ['src/audit/', 'src/state-machine/audit-records.ts', 'cluster/index.ts'] },
  // A client like any other: it knows the contract document and nothing of the service.
  { room: 'src/client/', rooms: ['src/client/'] },
  { room: 'src/config/', rooms: ['src/config/', 'cluster/index.ts'] },
  { room: 'src/telemetry/', rooms: ['src/telemetry/', 'src/config/types.ts', 'cluster/index.ts'] },
  {
    room: 'src/workers/',
    rooms: [
      'src/workers/',
      'src/operations/',
      'src/access/',
      'src/audit/',
      'src/content/uploads.ts',
      'src/store/',
      'src/state-machine/',
      'src/refusal.ts',
      'cluster/index.ts',
    ],
  },
  {
    room: 'src/recovery/',
    rooms: [
      'src/recovery/',
      'src/access/master-key.ts',
      'src/config/',
      'src/store/',
      'src/state-machine/',
      'src/telemetry/logger.ts',
      'cluster/index.ts',
    ],
  },
  {
    room: 'src/cli/',
    rooms: [
      'src/cli/',
      'src/recovery/',
      'src/client/',
      'src/access/',
      'src/api/local/node-status.ts',
      'src/config/',
      'src/workers/',
      'src/store/state-inspection.ts',
      'src/state-machine/records.ts',
      'src/telemetry/logger.ts',
      'src/local-socket.ts',
      'src/refusal.ts',
      'src/service.ts',
      'src/version.ts',
      'cluster/index.ts',
    ],
  },
]

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

const withoutComments = (text: string): string =>
  text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|\s)\/\/.*$/gm, '$1')

/** English has those two words as well; the directives that silence checks live in comments and stay visible. */
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
  if (!/^[a-z0-9]+(-[a-z0-9]+)*(\.test)?\.(ts|mjs)$/.test(name)) problems.push('is not named in kebab-case')
  if (/\b(utils?|helpers?|common|misc|manager|impl)\b/.test(name.replaceAll('-', ' '))) {
    problems.push('has a name that says nothing: name it after what it exports')
  }
  return problems
}

const pureRoomIsPure: Rule = ({ path, text }) => {
  if (!PURE_ROOMS.some((room) => path.startsWith(room))) return []
  const code = withoutComments(text)
  const found = code.match(
    /\b(await|async|Promise|Date|performance|setTimeout|setInterval|queueMicrotask|globalThis|process|Buffer|console)\b|Math\.random/,
  )
  const problems = found
    ? [`uses '${found[0]}' in a pure room: pass it in as data, or return it as an effect`]
    : []
  for (const specifier of importsOf(text)) {
    if (!/^\.\/[a-z]/.test(specifier))
      problems.push(`imports '${specifier}': a pure room imports its own folder only`)
  }
  return problems
}

const importsFitTheTable: Rule = ({ path, text }) => {
  const room = /^(cluster|src)\/[^/]+\//.exec(path)?.[0]
  if (room === undefined || PURE_ROOMS.includes(room)) return []
  const row = MAY_IMPORT.find((candidate) => candidate.room === room)
  if (!row)
    return [`is in ${room}, which has no row in the import table of scripts/tidy-rules.ts: give it one`]
  return importsOf(text)
    .filter((specifier) => specifier.startsWith('.'))
    .map((specifier) => resolveImport(path, specifier))
    .filter((target) => !row.rooms.some((room) => target.startsWith(room)))
    .map((target) => `imports ${target}: ${row.room} may import ${row.rooms.join(', ')} only`)
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

/** It decides by scopes alone: whoever took it for `authorize` would pass over what the policy of the bucket denies. */
const asksThePolicies: Rule = ({ path, text }) =>
  path.startsWith('src/') &&
  !['src/access/authorize.ts', 'src/api/serve-route.ts'].includes(path) &&
  /\brefuseBeforeBody\b/.test(withoutComments(text))
    ? ["uses 'refuseBeforeBody', which knows no bucket policies: call authorize"]
    : []

const speaksThroughTheLogger: Rule = ({ path, text }) =>
  /^(cluster|src)\//.test(path) && !path.startsWith('src/cli/') && /\bconsole\./.test(withoutComments(text))
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

/** No machine's path and no registry's host may enter the repository; every dependency has a reason in an ADR. */
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
  }
  return findings
}
