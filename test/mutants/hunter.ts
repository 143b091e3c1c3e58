/**
 * Sends out one hunt and brings its outcome home.
 *
 * Owns: the process, its bound in time, its folder for temporary files, which it may leave in the middle of a test. Knows nothing of: what is mutated, how seeds are judged.
 * Rule: only a broken promise of the simulation, or a test that fails while it runs, is a kill. A mutant that does not load, that
 * makes no sense or that hangs is an error: it would pass for a dead one, and prove nothing.
 */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Mutant } from './mutant.ts'
import { plainly } from '../helpers/plainly.ts'

export interface Hunt {
  readonly firstSeed: number
  readonly seeds: number
  readonly events: number
  /** Of one process. ms */
  readonly limitMs?: number
}

/** `seed` null: it survived. Of a mutant that tests kill, `seed` is 0. */
export interface Hunted {
  readonly seed: number | null
  readonly why: string
}

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const SWITCH = fileURLToPath(new URL('switch.ts', import.meta.url))
const HUNT = fileURLToPath(new URL('hunt.ts', import.meta.url))
const OUTPUT_BYTES_MAX = 1024 * 1024
const TEST_LIMIT_MS = 120_000
/** A thousand seeds take minutes. */
const SEEDS_LIMIT_MS = 3_600_000
/** The words of the runner for a test that was ended by a clock. */
const TIMED_OUT = /^timeout!/
/** The machine is in the way, not the mutant. */
const NO_ROOM = /EADDRINUSE|EMFILE|address is in use/
/** Of any failure, also one of the whole file. */
const SAYS_WHY = /^ *not ok /m
/** The change of text is wrong itself. The test runner says so below the failure. */
const NO_SENSE = /^ *type: (ReferenceError|SyntaxError)$/m

export async function hunt(mutant: Mutant, { firstSeed, seeds, events, limitMs }: Hunt): Promise<Hunted> {
  if (typeof mutant.killers !== 'string')
    return huntByTests(mutant, mutant.killers.tests, limitMs ?? TEST_LIMIT_MS)
  const args = [HUNT, ...[firstSeed, seeds, events].map(String)]
  const { output, code } = await run(mutant, args, limitMs ?? SEEDS_LIMIT_MS)
  if (code !== 0) throw new Error(`Cannot hunt ${mutant.id}: the hunt ended with code ${code}\n${output}`)
  return JSON.parse(output.trim().split('\n').at(-1) ?? '') as Hunted
}

async function huntByTests(mutant: Mutant, files: readonly string[], limitMs: number): Promise<Hunted> {
  for (const file of files) {
    let { output, code } = await run(mutant, [file], limitMs)
    // Ending at the first failure can cut off the very words of it.
    if (code !== 0 && !SAYS_WHY.test(output))
      ({ output, code } = await run(mutant, [file], limitMs, { TAP_BAIL: '0' }))
    if (code === 0) continue
    const failure = failureIn(output)
    if (failure === null)
      throw new Error(
        `Cannot hunt ${mutant.id}: ${file} failed without a failing test\n${output.slice(-2000)}`,
      )
    return { seed: 0, why: `${file}: ${failure}` }
  }
  return { seed: null, why: `survived ${files.join(', ')}` }
}

/** What the first failing test says; null when none failed by its own words. A line at the margin is of the file, not of a test in it. */
function failureIn(output: string): string | null {
  const [, indent = '', name = ''] = /^( *)not ok \d+ - (.*?)( #.*)?$/m.exec(output) ?? []
  const isNoProof = TIMED_OUT.test(name) || NO_ROOM.test(name) || NO_SENSE.test(output)
  return indent === '' || isNoProof ? null : name
}

interface Ended {
  readonly output: string
  readonly code: number | null
}

function run(
  mutant: Mutant,
  args: readonly string[],
  limitMs: number,
  more: Readonly<Record<string, string>> = {},
): Promise<Ended> {
  const [program, words] = plainly(process.execPath, '--import', SWITCH, ...args)
  const temporary = mkdtempSync(join(tmpdir(), 'holdfast-hunt-'))
  const child = spawn(program, words, {
    cwd: ROOT,
    // At the first failure everything is known; what a mutant breaks later may only hang.
    env: { ...process.env, HOLDFAST_MUTANT: mutant.id, TMPDIR: temporary, TAP: '1', TAP_BAIL: '1', ...more },
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
      if (signal === null) return resolve({ output, code })
      reject(new Error(`Cannot hunt ${mutant.id}: ended by ${signal}, at most ${limitMs} ms are allowed`))
    })
  })
}
