/**
 * `npm run audit`: asks the registry for known vulnerabilities of the packages of the lockfile.
 *
 * Owns: what its answer means. Rules: which registry is asked is npm's own configuration; an answer that did not come is said to be missing
 * and is never taken for a good one. Ends with 0 for none, 1 for some, 2 for no answer.
 */
import { spawnSync } from 'node:child_process'
import { argv } from 'node:process'
import { fileURLToPath } from 'node:url'
import { ROOT } from './lockfile.ts'

const ANSWER_MS_MAX = 60_000
const OUTPUT_BYTES_MAX = 64 * 1024 * 1024

interface Verdict {
  readonly exitCode: 0 | 1 | 2
  readonly text: string
}

interface Report {
  readonly error?: { readonly summary?: string; readonly code?: string }
  readonly message?: string
  readonly metadata?: { readonly vulnerabilities?: { readonly total?: number } }
  readonly vulnerabilities?: Readonly<Record<string, { readonly severity?: string; readonly range?: string }>>
}

/** `output`: what `npm audit --json` printed. */
export function auditVerdict(output: string): Verdict {
  const report = reportOf(output)
  const total = report?.metadata?.vulnerabilities?.total
  if (report === null || report.error !== undefined || total === undefined) {
    const given = [report?.error?.summary, report?.error?.code, report?.message]
    const why = given.find((text) => text !== undefined && text.trim() !== '') ?? 'it gave no report'
    const how =
      'Run it where npm reaches a registry that answers audits, such as behind `npm config set registry`.'
    return { exitCode: 2, text: `No audit was made: the registry did not answer (${why.trim()}). ${how}` }
  }
  if (total === 0) return { exitCode: 0, text: 'No known vulnerabilities' }
  const lines = Object.entries(report.vulnerabilities ?? {}).map(
    ([name, { severity = 'unknown', range = '' }]) => `${severity}: ${name} ${range}`,
  )
  return { exitCode: 1, text: [...lines, `${total} known vulnerabilities`].join('\n') }
}

function reportOf(output: string): Report | null {
  try {
    const value: unknown = JSON.parse(output)
    return typeof value === 'object' && value !== null ? value : null
  } catch {
    return null
  }
}

if (argv[1] === fileURLToPath(import.meta.url)) {
  const { stdout } = spawnSync('npm', ['audit', '--json', ...argv.slice(2)], {
    cwd: ROOT,
    encoding: 'utf8',
    timeout: ANSWER_MS_MAX,
    maxBuffer: OUTPUT_BYTES_MAX,
  })
  const { exitCode, text } = auditVerdict(stdout ?? '')
  process.stdout.write(`${text}\n`)
  process.exitCode = exitCode
}
