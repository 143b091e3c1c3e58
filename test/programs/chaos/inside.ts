/**
 * The first process in the namespaces of a run: `node inside.ts OPTIONS`, started only by private-host.ts.
 *
 * Rule: it ends when its standard input does, and when it has taken far too long; with it the kernel ends everything else.
 */
import { cpSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isGood, reportText } from './chaos-report.ts'
import { runChaos } from './chaos-run.ts'
import type { ChaosOptions } from './options.ts'
import { runFullDisks } from './full-disks-run.ts'
import { ENTRY, RUN_DIR } from './private-host.ts'
import { runCommands } from './run-command.ts'
import { runWalk } from './walk-run.ts'

const RUNS = { faults: runChaos, walk: runWalk, 'full-disks': runFullDisks } as const
/** In addition to the duration of faults. */
const OVERTIME_MS_MAX = 13 * 60_000

const say = (line: string): void =>
  void process.stdout.write(`${(performance.now() / 1000).toFixed(1)} s  ${line}\n`)

async function run(options: ChaosOptions): Promise<number> {
  await runCommands(ENTRY)
  process.env['TMPDIR'] = RUN_DIR
  try {
    const report = await RUNS[options.plan](options, say)
    if (options.jsonFile !== null) writeFileSync(options.jsonFile, `${JSON.stringify(report, null, 2)}\n`)
    process.stdout.write(`${reportText(report)}\n`)
    return isGood(report) ? 0 : 1
  } finally {
    if (options.logDir !== null) cpSync(join(RUN_DIR, 'logs'), options.logDir, { recursive: true })
  }
}

const options = JSON.parse(process.argv[2] ?? '') as ChaosOptions
process.stdin.on('end', () => process.exit(1)).resume()
setTimeout(
  () => {
    say('this takes far too long, given up')
    process.exit(1)
  },
  options.seconds * 1000 + OVERTIME_MS_MAX,
)
process.exit(
  await run(options).catch((error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`)
    return 1
  }),
)
