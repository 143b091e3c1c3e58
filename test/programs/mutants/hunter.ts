/**
 * Runs one hunt in a process of its own and returns its outcome.
 *
 * Owns: the process, its time limit, its temporary folder. Knows nothing of: the mutations, the check of seeds.
 * Rule: only a broken promise of the simulation, or a test that fails while it runs, is a kill. A mutant that does not load, that
 * makes no sense or that hangs is an error: it would pass for a dead one, and prove nothing.
 */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { failingPath, type KnownTest, onlyTest } from './known-tests.ts'
import type { Mutant } from './mutant.ts'
import { withoutLoader } from '../../helpers/without-loader.ts'

export interface Hunt {
  readonly firstSeed: number
  readonly seeds: number
  readonly events: number
  /** Time limit of one process. ms */
  readonly limitMs?: number
  /** The only test to run. */
  readonly only?: KnownTest
}

/** `seed` null: it survived. For a mutant that tests kill, `seed` is 0. */
export interface Hunted {
  readonly seed: number | null
  readonly why: string
  /** The failing test of a mutant that tests kill. */
  readonly test?: KnownTest
}

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
const SWITCH = fileURLToPath(new URL('switch.ts', import.meta.url))
const HUNT = fileURLToPath(new URL('hunt.ts', import.meta.url))
const OUTPUT_BYTES_MAX = 1024 * 1024
const TEST_LIMIT_MS = 600_000
/** A thousand seeds take minutes. */
const SEEDS_LIMIT_MS = 3_600_000
/** Limit of processor time: an endless process ends even when its parent is gone. */
const BOUNDED = 'ulimit -t "$0"; exec "$@"'
const THREADS = 8
/** The message of the runner for a test that timed out. */
const TIMED_OUT = /^timeout!/
/** A fault of the machine, not of the mutant. */
const NO_ROOM = /EADDRINUSE|EMFILE|address is in use/
/** Matches any failure, also one of the whole file. */
const SAYS_WHY = /^ *not ok /m
/** The mutated text itself is invalid. The test runner reports it below the failure. */
const NO_SENSE = /^ *type: (ReferenceError|SyntaxError)$/m

export async function hunt(mutant: Mutant, wanted: Hunt): Promise<Hunted> {
  const { firstSeed, seeds, events, limitMs } = wanted
  if (typeof mutant.killers !== 'string') return huntByTests(mutant, mutant.killers.tests, wanted)
  const args = [HUNT, ...[firstSeed, seeds, events].map(String)]
  const { output, code } = await run(mutant, args, limitMs ?? SEEDS_LIMIT_MS)
  if (code !== 0) throw new Error(`Cannot hunt ${mutant.id}: the hunt ended with code ${code}\n${output}`)
  return JSON.parse(output.trim().split('\n').at(-1) ?? '') as Hunted
}

/** Whether the test passes by itself when there is no bug: otherwise it would kill everything. */
export async function passes(test: KnownTest): Promise<boolean> {
  const { code } = await runPlainly([test.file], TEST_LIMIT_MS, onlyTest(test))
  return code === 0
}

async function huntByTests(mutant: Mutant, whole: readonly string[], wanted: Hunt): Promise<Hunted> {
  const { limitMs = TEST_LIMIT_MS, only } = wanted
  const files = only === undefined ? whole : [only.file]
  const narrow = only === undefined ? {} : onlyTest(only)
  for (const file of files) {
    let { output, code } = await run(mutant, [file], limitMs, narrow)
    // Ending at the first failure can cut off its message.
    if (code !== 0 && !SAYS_WHY.test(output))
      ({ output, code } = await run(mutant, [file], limitMs, { ...narrow, TAP_BAIL: '0' }))
    if (code === 0) continue
    const failure = failureIn(output)
    if (failure === null)
      throw new Error(
        `Cannot hunt ${mutant.id}: ${file} failed without a failing test\n${output.slice(-2000)}`,
      )
    return { seed: 0, why: `${file}: ${failure}`, test: { file, path: failingPath(output) } }
  }
  return { seed: null, why: `survived ${files.join(', ')}` }
}

/** The message of the first failing test; null when none failed by its own assertion. An unindented line belongs to the file, not to a test in it. */
function failureIn(output: string): string | null {
  const [, indent = '', name = ''] = /^( *)not ok \d+ - (.*?)( #.*)?$/m.exec(output) ?? []
  const isNoProof = TIMED_OUT.test(name) || NO_ROOM.test(name) || NO_SENSE.test(output)
  return indent === '' || isNoProof ? null : name
}

interface Ended {
  readonly output: string
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

type More = Readonly<Record<string, string>>

/** With the bug. Rejects when it has to be ended by force. */
async function run(
  { id }: Mutant,
  args: readonly string[],
  limitMs: number,
  more: More = {},
): Promise<Ended> {
  const ended = await runPlainly(['--import', SWITCH, ...args], limitMs, {
    HOLDFAST_MUTANT: id,
    HOLDFAST_FROM_SOURCES: '1',
    ...more,
  })
  if (ended.signal === null) return ended
  throw new Error(`Cannot hunt ${id}: ended by ${ended.signal}, at most ${limitMs} ms are allowed`)
}

function runPlainly(args: readonly string[], limitMs: number, more: More): Promise<Ended> {
  const seconds = Math.ceil((limitMs * THREADS) / 1000)
  const [program, words] = withoutLoader('sh', '-c', BOUNDED, String(seconds), process.execPath, ...args)
  const temporary = mkdtempSync(join(tmpdir(), 'holdfast-hunt-'))
  const child = spawn(program, words, {
    cwd: ROOT,
    // The first failure is enough; later effects of a mutant may only hang. A busy machine is no failure: no test has a shorter limit than its file.
    env: {
      ...process.env,
      TMPDIR: temporary,
      TAP: '1',
      TAP_BAIL: '1',
      // A share of a proof may let live what all of it kills.
      HOLDFAST_PROOFS: 'whole',
      TAP_TIMEOUT: String(limitMs / 1000),
      ...more,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: limitMs,
    killSignal: 'SIGKILL',
  })
  let output = ''
  const keep = (text: string): void => {
    output = (output + text).slice(-OUTPUT_BYTES_MAX)
  }
  child.stdout.setEncoding('utf8').on('data', keep)
  child.stderr.setEncoding('utf8').on('data', keep)
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code, signal) => {
      rmSync(temporary, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 })
      resolve({ output, code, signal })
    })
  })
}
