/**
 * `npm run sim`: whole nodes in a simulated world, seed after seed.
 *
 * Owns: progress, the summary, the record of a failed seed. Knows nothing of: the simulation of a world.
 * Rule: standard output carries the summary, or JSON; everything else goes to standard error.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { UsageError } from '../../../scripts/local/options.ts'
import { parseSimOptions, SIM_USAGE, type SimOptions } from './options.ts'
import { runPool, type SimJob, type SimReport } from './pool.ts'
import { SimSummary } from './summary.ts'

const ROOT = join(import.meta.dirname, '..', '..', '..')
const PROGRESS_EVERY_MS = 5_000
const TRACE_LINES = 400
/** A run that keeps failing is stopped: the first failures are enough. */
const FAILURES_MAX = 10

const say = (text: string): void => void process.stderr.write(`${text}\n`)

function commitOf(): string {
  try {
    return execFileSync('git', ['rev-parse', '--short', 'HEAD'], {
      cwd: ROOT,
      encoding: 'utf8',
      stdio: 'pipe',
    }).trim()
  } catch {
    // Not a clone, or no git: the seed still says everything about this very tree.
    return 'unknown'
  }
}

/** Keeps the seed for test/programs/simulator/regress/regress.test.ts. */
function keep({ seed, violation }: SimReport, { events, machine }: SimOptions): void {
  const file = join(ROOT, 'test', 'programs', 'simulator', 'regress', `${seed}.json`)
  if (existsSync(file)) return
  const reason = (violation ?? '').split('\n')[0] ?? ''
  writeFileSync(
    file,
    `${JSON.stringify({ seed, events, ...(machine === null ? {} : { machine }), reason }, null, 2)}\n`,
  )
  say(`kept in test/programs/simulator/regress/${seed}.json`)
}

async function run(options: SimOptions): Promise<SimSummary> {
  const { first, seeds, events, minutes, twice, workers, json, machine } = options
  const chosen = machine === null ? '' : ` --machine ${machine}`
  const started = performance.now()
  const isOver = (): boolean => minutes !== null && performance.now() - started > minutes * 60_000
  const traceLines = options.trace ? TRACE_LINES : 0
  const commit = commitOf()
  const summary = new SimSummary()
  let startedOne = 0
  const next = (): SimJob | null => {
    if (startedOne >= seeds || isOver() || summary.failures >= FAILURES_MAX) return null
    startedOne += 1
    return { seed: first + startedOne - 1, events, twice, traceLines, machine }
  }
  const progress = setInterval(() => say(summary.line(seeds)), PROGRESS_EVERY_MS)
  const onReport = (report: SimReport): void => {
    summary.add(report)
    if (json) process.stdout.write(`${JSON.stringify({ ...report, trace: undefined })}\n`)
    if (options.trace) process.stdout.write(`${report.trace.join('\n')}\n`)
    if (report.violation === null) return
    const { seed } = report
    say(`VIOLATION ${report.violation}`)
    say(
      `seed=${seed} commit=${commit} rerun: npm run sim -- --seed ${seed} --events ${events}${chosen} --trace`,
    )
    keep(report, options)
  }
  await runPool({ workers, next, onReport })
  clearInterval(progress)
  return summary
}

async function main(): Promise<number> {
  try {
    const options = parseSimOptions(process.argv.slice(2))
    if (options === null) {
      process.stdout.write(SIM_USAGE)
      return 0
    }
    const summary = await run(options)
    say(summary.line(options.seeds))
    if (!options.json) process.stdout.write(summary.table())
    return summary.failures > 0 ? 1 : 0
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    say(`error: ${error.message}`)
    return 2
  }
}

process.exitCode = await main()
