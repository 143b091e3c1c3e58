/**
 * Runs test files with the report that people and CI read.
 *
 * Owns: the inputs of a run: jobs and limit of `.taprc`, compiled code, times of the last run. Rule: standard output contains only
 * the report; its last line is `N passed, N failed`.
 */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { ROOT } from './steps.ts'
import TapSummary from './tap-summary.ts'
import { groupsOf } from './test-groups.ts'
import { runTestFiles } from './test-runner.ts'
import type { SourceFile } from './tidy-rules.ts'
import { longestFirst, readTimes, writeTimes } from './test-times.ts'

const CACHE = join(ROOT, 'node_modules', '.cache')
/** The compile cache that all processes of the tests share. */
const COMPILED = join(CACHE, 'compiled')
const TIMES = join(CACHE, 'test-times.json')

interface Options {
  readonly jobs?: number | undefined
  readonly order: 'longest-first' | 'as-given'
  readonly stopsAtFailure?: boolean
}

export function allTestFiles(): readonly string[] {
  return globSync('test/**/*.test.ts', { cwd: ROOT })
}

function sources(): readonly SourceFile[] {
  const paths = globSync(['cluster/**/*.ts', 'scripts/**/*.ts', 'src/**/*.ts', 'test/**/*.ts'], { cwd: ROOT })
  return paths.map((path) => ({ path, text: readFileSync(join(ROOT, path), 'utf8') }))
}

/** Whether all passed. `files`: paths relative to the root. */
export async function runTests(files: readonly string[], options: Options): Promise<boolean> {
  const times = readTimes(TIMES)
  const taprc: { readonly jobs: number; readonly timeout: number } = parse(
    readFileSync(join(ROOT, '.taprc'), 'utf8'),
  )
  const report = new TapSummary()
  report.pipe(process.stdout)
  process.stderr.write('== tests\n')
  const outcomes = await runTestFiles(
    {
      groups:
        options.order === 'as-given'
          ? files.map((file) => [file])
          : longestFirst(groupsOf(files, sources()), times),
      root: ROOT,
      jobs: options.jobs ?? taprc.jobs,
      timeoutMs: taprc.timeout * 1000,
      stopsAtFailure: options.stopsAtFailure ?? false,
      env: { ...process.env, NODE_COMPILE_CACHE: COMPILED },
    },
    report,
  )
  writeTimes(TIMES, times, outcomes)
  return outcomes.length > 0 && outcomes.every(({ ok }) => ok)
}
