/**
 * The checks before the tests: what each runs, and over which files.
 *
 * Owns: their commands and their output. Knows nothing of: tests. Rule: steps run concurrently and print one after the other,
 * on standard error.
 */
import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Readable } from 'node:stream'

export const ROOT = join(import.meta.dirname, '..', '..')
const bin = (name: string): string => join(ROOT, 'node_modules', '.bin', name)

type ChildProcessWithoutStdin = ChildProcessByStdio<null, Readable, Readable>

interface Step {
  readonly name: string
  readonly command: string
  readonly args: readonly string[]
}

const COMPILE: Step = { name: 'compile', command: bin('tsc'), args: ['-b'] }
const TIDY: Step = {
  name: 'tidy',
  command: process.execPath,
  args: [join(ROOT, 'scripts', 'checks', 'tidy.ts')],
}
/** Once, before several files want it. */
const BUILD: Step = {
  name: 'build',
  command: process.execPath,
  args: [join(ROOT, 'scripts', 'build', 'main.ts')],
}
/** `tap build` writes the test class without the TypeScript plugin; a fresh clone does not have it yet. */
const TAP_BUILD: Step = { name: 'tap build', command: bin('tap'), args: ['build'] }

/** In the order of their output. */
export const ALL_STEPS: readonly Step[] = [
  COMPILE,
  { name: 'lint', command: bin('oxlint'), args: ['--type-aware'] },
  TIDY,
  { name: 'format', command: bin('biome'), args: ['format'] },
  { name: 'dead code', command: bin('knip'), args: ['--no-progress'] },
  BUILD,
  TAP_BUILD,
]

/** `changed`: existing paths. The linter reads them without types, which takes a tenth of the time. */
export function quickSteps(changed: readonly string[]): readonly Step[] {
  const sources = changed.filter((path) => /\.(ts|mjs)$/.test(path))
  if (sources.length === 0) return [TIDY]
  return [
    COMPILE,
    { name: 'lint without types', command: bin('oxlint'), args: sources },
    TIDY,
    { name: 'format', command: bin('biome'), args: ['format', '--no-errors-on-unmatched', ...sources] },
  ]
}

/** The first step of the list that fails; null: none does. */
export async function failedStep(steps: readonly Step[]): Promise<string | null> {
  const started = steps.map(({ name, command, args }) => {
    const child = spawn(command, args, { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] })
    return { name, child, ended: outcome(child) }
  })
  for (const { name, ended } of started) {
    const { ok, output } = await ended
    process.stderr.write(`== ${name}\n${output}`)
    if (ok) continue
    for (const { child } of started) child.kill()
    return name
  }
  return null
}

async function outcome(child: ChildProcessWithoutStdin): Promise<{ ok: boolean; output: string }> {
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text))
  const [code] = (await once(child, 'close')) as [number | null]
  return { ok: code === 0, output }
}
