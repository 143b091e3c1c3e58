/**
 * `npm test`: everything that must hold, in the order in which it fails fastest.
 *
 * Owns: the sequence and the closing line. A step before the tests that fails counts as one failure, so that the
 * last line never says "0 failed" about a tree that does not compile.
 */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '..', '..')
const bin = (name: string): string => join(ROOT, 'node_modules', '.bin', name)

/** Where the hundreds of processes of the tests find what one of them has compiled already. */
const COMPILED = join(ROOT, 'node_modules', '.cache', 'compiled')

interface Step {
  readonly name: string
  readonly command: string
  readonly args: readonly string[]
}

const STEPS: readonly Step[] = [
  { name: 'compile', command: bin('tsc'), args: ['-b'] },
  { name: 'lint', command: bin('oxlint'), args: ['--type-aware'] },
  { name: 'tidy', command: process.execPath, args: [join(ROOT, 'scripts', 'checks', 'tidy.ts')] },
  { name: 'format', command: bin('biome'), args: ['format'] },
  { name: 'dead code', command: bin('knip'), args: ['--no-progress'] },
]

/** Standard output carries the reporter's text alone; the steps speak on standard error. */
function run(step: Step, stdout: 1 | 2): boolean {
  const env = { ...process.env, NODE_COMPILE_CACHE: COMPILED }
  const result = spawnSync(step.command, step.args, { cwd: ROOT, env, stdio: ['ignore', stdout, 2] })
  return result.status === 0
}

function main(): number {
  for (const step of STEPS) {
    process.stderr.write(`== ${step.name}\n`)
    if (!run(step, 2)) {
      process.stdout.write(`FAILED ${step.name}, see above\n0 passed, 1 failed\n`)
      return 1
    }
  }
  process.stderr.write('== tests\n')
  // `tap build` writes the test class without the TypeScript plugin; a fresh clone does not have it yet.
  if (!run({ name: 'tap build', command: bin('tap'), args: ['build'] }, 2)) return 1
  const files = process.argv.slice(2)
  return run({ name: 'tap', command: bin('tap'), args: ['run', ...files] }, 1) ? 0 : 1
}

process.exitCode = main()
