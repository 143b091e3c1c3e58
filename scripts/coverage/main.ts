/**
 * `npm run coverage`: which lines and branches of the components that decide about data ran in their tests.
 *
 * Owns: the sequence compile, run, read, print. Rule: it measures only compiled code. For code whose types Node strips
 * itself, Node reports lines as run that never ran; the test of this file proves that these figures are correct.
 */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, globSync, mkdtempSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { readRuns, type ScriptCoverage } from './blocks.ts'
import { coverageOf } from './file.ts'
import { COVERAGE_GROUPS, COVERAGE_TESTS } from './groups.ts'
import { coverageTable, type GroupCoverage, shortfalls } from './table.ts'

const USAGE = `npm run coverage -- [--check] [TEST ...]

  --check   end with an error when a group falls below its share of lines or branches
  TEST      only these test files, such as test/raft/election.test.ts
`
const ROOT = join(import.meta.dirname, '..', '..')
const OUT = join(ROOT, 'dist', 'coverage')
const TEST_MS_MAX = 900_000

const say = (text: string): void => void process.stderr.write(`${text}\n`)

/**
 * Tests read text files next to their sources; the compiler copies only code. It checks no types: `npm run check` does, and code of pages and
 * code of Node do not compile together.
 */
function compile(): boolean {
  rmSync(OUT, { recursive: true, force: true })
  const tsc = join(ROOT, 'node_modules', '.bin', 'tsc')
  const { status } = spawnSync(tsc, ['-p', join(ROOT, 'scripts', 'coverage', 'tsconfig.json')], {
    stdio: ['ignore', 2, 2],
  })
  for (const file of globSync('{*.md,docs/formats/*.md,test/**/*.{txt,json,pem,md}}', { cwd: ROOT }))
    cpSync(join(ROOT, file), join(OUT, file))
  return status === 0
}

function testFiles(asked: readonly string[]): readonly string[] {
  const files =
    asked.length > 0
      ? asked
      : COVERAGE_TESTS.flatMap((room) => globSync(`test/${room}/**/*.test.ts`, { cwd: ROOT }))
  return files.map((file) => join(OUT, compiledName(relative(ROOT, join(ROOT, file))))).sort()
}

const compiledName = (source: string): string => source.replace(/\.ts$/, '.js')

/** False when it failed: the coverage of a failed test proves nothing. */
async function runTest(file: string, folder: string): Promise<boolean> {
  const began = performance.now()
  const child = spawn(process.execPath, [file], {
    cwd: ROOT,
    env: { ...process.env, NODE_V8_COVERAGE: folder, TAP_TIMEOUT: `${TEST_MS_MAX / 1000}` },
    stdio: ['ignore', 'ignore', 'inherit'],
    timeout: TEST_MS_MAX,
  })
  const [code] = (await once(child, 'exit')) as [number | null]
  const seconds = ((performance.now() - began) / 1000).toFixed(1)
  say(`${code === 0 ? 'ok    ' : 'FAILED'} ${relative(OUT, file)} (${seconds} s)`)
  return code === 0
}

async function runAll(files: readonly string[], folder: string): Promise<boolean> {
  const waiting = [...files]
  let passed = true
  const work = async (): Promise<void> => {
    for (let file = waiting.shift(); file !== undefined; file = waiting.shift())
      if (!(await runTest(file, folder))) passed = false
  }
  await Promise.all(Array.from({ length: Math.min(4, availableParallelism()) }, work))
  return passed
}

function groupsOf(runs: ReadonlyMap<string, readonly ScriptCoverage[]>): readonly GroupCoverage[] {
  const sources = globSync('{cluster,src}/**/*.ts', { cwd: ROOT }).sort()
  return COVERAGE_GROUPS.map((group) => {
    const files = sources
      .filter((source) => group.holds.test(source))
      .map((source) => {
        const compiled = join(OUT, compiledName(source))
        return coverageOf(source, compiled, runs.get(pathToFileURL(compiled).href) ?? [])
      })
    // A file of only types has no code to run.
    return { group, files: files.filter(({ lines }) => lines.total > 0) }
  })
}

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { check: { type: 'boolean', default: false }, help: { type: 'boolean', default: false } },
  })
  if (values.help) {
    process.stdout.write(USAGE)
    return 0
  }
  say('compiling ...')
  if (!compile()) return 1
  const files = testFiles(positionals)
  const unknown = files.filter((file) => !existsSync(file))
  if (unknown.length > 0 || files.length === 0) {
    say(`error: no such test: ${unknown.map((file) => relative(OUT, file)).join(', ')}\n${USAGE}`)
    return 2
  }
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-coverage-'))
  try {
    const passed = await runAll(files, folder)
    const groups = groupsOf(readRuns(folder))
    process.stdout.write(coverageTable(groups))
    const short = shortfalls(groups)
    for (const sentence of short) say(sentence)
    return passed && (!values.check || short.length === 0) ? 0 : 1
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

process.exitCode = await main()
