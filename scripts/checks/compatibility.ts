/**
 * Compares what other programs rely on with an earlier commit: `npm run compatibility -- --since REF`.
 *
 * Owns: the comparison of the OpenAPI documents without their texts, of error codes and their statuses, of metric names and of the
 * feature levels of commands. Knows nothing of: bytes on disk and between nodes, which test/process/upgrade.test.ts proves with real nodes.
 * Rule: what was removed or changed is a finding; what was added is printed. [decisions 0: v1 is additive]
 */
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const ROOT = join(import.meta.dirname, '..', '..')
const OUTPUT_BYTES_MAX = 64 * 1024 * 1024
/** Members of a document that people read and programs do not. */
const TEXTS = new Set(['description', 'summary', 'title', 'example', 'examples'])

export interface Difference {
  readonly added: readonly string[]
  /** Removed or changed. */
  readonly broken: readonly string[]
}

type Facts = ReadonlyMap<string, string>

export function difference(before: Facts, after: Facts): Difference {
  const broken = [...before].flatMap(([name, value]) => {
    const now = after.get(name)
    if (now === value) return []
    return [now === undefined ? `${name} is gone` : `${name} was ${value} and is ${now}`]
  })
  return { broken, added: [...after.keys()].filter((name) => !before.has(name)) }
}

/** One fact for each value of a JSON document, by its path; the order of lists of plain values does not count. */
export function documentFacts(name: string, text: string): Facts {
  const facts = new Map<string, string>()
  const walk = (value: unknown, path: string): void => {
    if (Array.isArray(value)) {
      for (const [at, item] of value.entries()) {
        const isPlain = typeof item !== 'object' || item === null
        if (isPlain) facts.set(`${path}[${JSON.stringify(item)}]`, 'listed')
        else walk(item, `${path}[${at}]`)
      }
    } else if (typeof value === 'object' && value !== null) {
      for (const [key, inner] of Object.entries(value))
        if (!TEXTS.has(key) || path.endsWith('/properties')) walk(inner, `${path}/${key}`)
    } else facts.set(path, JSON.stringify(value))
  }
  walk(JSON.parse(text), name)
  return facts
}

/** Rows such as "| 404 | `not_found` | ... |". */
export function codeFacts(page: string): Facts {
  const rows = page.matchAll(/^\| (\d{3}) \| `([a-z_]+)` \|/gm)
  return new Map([...rows].map(([, status = '', code = '']) => [`code ${code}`, status]))
}

export function metricFacts(sources: string): Facts {
  return new Map(
    [...sources.matchAll(/'(holdfast_[a-z0-9_]+)'/g)].map(([, name = '']) => [`metric ${name}`, 'exported']),
  )
}

/** Rows such as "createTenant: 1,". */
export function levelFacts(source: string): Facts {
  return new Map(
    [...source.matchAll(/^ {2}([a-z][A-Za-z]+): (\d+),$/gm)].map(([, name = '', level = '']) => [
      `command ${name}`,
      level,
    ]),
  )
}

function git(...args: readonly string[]): string {
  return execFileSync('git', [...args], { cwd: ROOT, encoding: 'utf8', maxBuffer: OUTPUT_BYTES_MAX })
}

function isCommit(ref: string): boolean {
  try {
    git('rev-parse', '--verify', '--quiet', '--end-of-options', `${ref}^{commit}`)
    return true
  } catch {
    return false
  }
}

/** `ref`: a commit. */
function factsAt(ref: string): Facts {
  const read = (path: string): string => git('show', `${ref}:${path}`)
  const metrics = git('grep', '-hoE', "'holdfast_[a-z0-9_]+'", ref, '--', 'src', 'cluster')
  return new Map([
    ...documentFacts('data', read('docs/openapi/data.json')),
    ...documentFacts('admin', read('docs/openapi/admin.json')),
    ...codeFacts(read('docs/errors.md')),
    ...metricFacts(metrics),
    ...levelFacts(read('src/state-machine/command-levels.ts')),
  ])
}

function main(): number {
  const { values } = parseArgs({ options: { since: { type: 'string' }, to: { type: 'string' } } })
  if (values.since === undefined) {
    process.stderr.write('Usage: npm run compatibility -- --since REF [--to REF]\n')
    return 2
  }
  const refs = [values.since, values.to ?? 'HEAD'] as const
  const unknown = refs.find((ref) => !isCommit(ref))
  if (unknown !== undefined) {
    process.stderr.write(`compatibility: expected a branch or a commit, got '${unknown}'\n`)
    return 2
  }
  const { added, broken } = difference(factsAt(refs[0]), factsAt(refs[1]))
  for (const line of added) process.stdout.write(`+ ${line}\n`)
  for (const line of broken) process.stdout.write(`! ${line}\n`)
  process.stdout.write(`${added.length} added, ${broken.length} removed or changed since ${values.since}\n`)
  return broken.length === 0 ? 0 : 1
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.exitCode = main()
