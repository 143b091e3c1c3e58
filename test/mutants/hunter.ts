/**
 * Sends out one hunt and brings its outcome home.
 *
 * Owns: the process, its bound in time. Knows nothing of: what is mutated, how seeds are judged.
 * Rule: a hunt that ends in any other way than with its line of JSON is an error, never a kill: a mutant that does not load
 * would pass for a dead one.
 */
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Mutant } from './mutant.ts'
import { plainly } from '../helpers/plainly.ts'

export interface Hunt {
  readonly firstSeed: number
  readonly seeds: number
  readonly events: number
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

export async function hunt(mutant: Mutant, { firstSeed, seeds, events }: Hunt): Promise<Hunted> {
  if (typeof mutant.killers !== 'string') return huntByTests(mutant, mutant.killers.tests)
  const { output, code } = await run(mutant, [HUNT, ...[firstSeed, seeds, events].map(String)])
  if (code !== 0) throw new Error(`Cannot hunt ${mutant.id}: the hunt ended with code ${code}\n${output}`)
  return JSON.parse(output.trim().split('\n').at(-1) ?? '') as Hunted
}

async function huntByTests(mutant: Mutant, files: readonly string[]): Promise<Hunted> {
  for (const file of files) {
    const { output, code } = await run(mutant, [file])
    if (code === 0) continue
    const failure = /^ *not ok \d+ - (.*?)( #.*)?$/m.exec(output)?.[1]
    if (failure === undefined)
      throw new Error(`Cannot hunt ${mutant.id}: ${file} did not run\n${output.slice(-2000)}`)
    return { seed: 0, why: `${file}: ${failure}` }
  }
  return { seed: null, why: `survived ${files.join(', ')}` }
}

function run(
  mutant: Mutant,
  args: readonly string[],
): Promise<{ readonly output: string; readonly code: number | null }> {
  const [program, words] = plainly(process.execPath, '--import', SWITCH, ...args)
  const child = spawn(program, words, {
    cwd: ROOT,
    env: { ...process.env, HOLDFAST_MUTANT: mutant.id, TAP: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  const keep = (text: string): void => {
    output = (output + text).slice(-OUTPUT_BYTES_MAX)
  }
  child.stdout.setEncoding('utf8').on('data', keep)
  child.stderr.setEncoding('utf8').on('data', keep)
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => resolve({ output, code }))
  })
}
