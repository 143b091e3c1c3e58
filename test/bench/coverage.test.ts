/**
 * The figures of `npm run coverage`, on a small program whose unused lines and branches are known.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import t, { type Test } from 'tap'
import { readRuns } from '../../scripts/coverage/blocks.ts'
import { withoutLoader } from '../helpers/without-loader.ts'
import { coverageOf, type FileCoverage } from '../../scripts/coverage/file.ts'
import { coverageTable, shortfalls } from '../../scripts/coverage/table.ts'

const TSC = fileURLToPath(new URL('../../node_modules/typescript/bin/tsc', import.meta.url))

/** Types and comments push the lines of the source away from those of the code. */
const TOY = `/**
 * What a toy is.
 */
export interface Toy {
  readonly name: string
}

export type Colour = 'red' | 'blue'

/** Runs with 1 and with 2. */
export function used(n: number): string {
  if (n > 1) return 'many'
  return n === 1 ? 'one' : 'none'
}

export function unused(n: number): number {
  const half = n / 2
  return half
}

export class Box {
  #inside: Toy | null = null

  put(toy: Toy): void {
    if (this.#inside !== null) throw new Error('full')
    this.#inside = toy
  }

  take(): Toy | null {
    return this.#inside
  }
}

export const lazy = (colour: Colour): string =>
  colour.toUpperCase()
`

interface CompiledToy {
  /** Runs each program in a process of its own, and reads what ran. */
  measure(programs: readonly string[]): FileCoverage
}

function compileToy(t: Test): CompiledToy {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-coverage-test-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const compiled = join(folder, 'toy.js')
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  writeFileSync(join(folder, 'toy.ts'), TOY)
  const options = [
    '--target',
    'es2023',
    '--module',
    'nodenext',
    '--sourceMap',
    '--removeComments',
    '--strict',
  ]
  const compiler = { cwd: folder, encoding: 'utf8' } as const
  const compiling = spawnSync(...withoutLoader(process.execPath, TSC, ...options, 'toy.ts'), compiler)
  t.equal(compiling.status, 0, compiling.stdout)
  return {
    measure: (programs) => {
      const runs = mkdtempSync(join(folder, 'runs-'))
      for (const program of programs) {
        const file = join(folder, 'program.js')
        writeFileSync(file, `import { used, unused, Box, lazy } from './toy.js'\n${program}\n`)
        const env = { ...process.env, NODE_V8_COVERAGE: runs }
        t.equal(spawnSync(...withoutLoader(process.execPath, file), { env }).status, 0)
      }
      return coverageOf('toy.ts', compiled, readRuns(runs).get(pathToFileURL(compiled).href) ?? [])
    },
  }
}

/** Numbers of the lines of TOY that contain one of `parts`. */
const linesWith = (...texts: readonly string[]): number[] =>
  TOY.split('\n').flatMap((line, i) => (texts.some((text) => line.includes(text)) ? [i + 1] : []))

t.test('coverage of compiled code', async (t) => {
  const compiledToy = compileToy(t)
  const UNUSED = ['function unused', 'const half', 'return half']
  const LAZY = ['colour.toUpperCase']

  t.test('reports lines and branches that did not run, in lines of the source', async (t) => {
    const toy = compiledToy.measure(['used(1); used(2); new Box().put({ name: "ball" })'])
    t.strictSame(toy.missedLines, linesWith(...UNUSED, 'take()', 'return this.#inside', ...LAZY))
    t.strictSame(toy.missedBranches, linesWith("'none'", 'unused(n', "'full'", 'take()', 'const lazy'))
    t.strictSame(toy.lines, { total: 15, ran: 9 }, 'neither types nor comments nor braces count')
  })

  t.test('adds up several processes', async (t) => {
    const toy = compiledToy.measure([
      'used(1); used(2); new Box().put({ name: "ball" })',
      'used(0); new Box().take(); lazy("red")',
    ])
    t.strictSame(toy.missedLines, linesWith(...UNUSED))
    t.strictSame(toy.missedBranches, linesWith('unused(n', "'full'"))
  })

  t.test('is complete when everything ran', async (t) => {
    const toy = compiledToy.measure([
      'used(0); used(1); used(2); unused(4); lazy("red")',
      'const box = new Box(); box.put({ name: "a" }); box.take(); try { box.put({ name: "b" }) } catch {}',
    ])
    t.strictSame([toy.missedLines, toy.missedBranches], [[], []])
    t.equal(toy.branches.ran, toy.branches.total)
  })

  t.test('counts a file that was never loaded as not run', async (t) => {
    const toy = compiledToy.measure([])
    t.equal(toy.lines.ran, 0)
    t.strictSame(toy.branches, { total: 1, ran: 0 })
  })

  t.test('names the group below its limit, and shows its gaps', async (t) => {
    const group = { name: 'toys', holds: /toy/ }
    const toy = compiledToy.measure(['used(1)'])
    const groups = [{ group, files: [toy] }]
    t.match(shortfalls(groups), [
      /^toys: \d+\.\d % of the lines ran, 95/,
      /^toys: \d+\.\d % of the branches ran, 90/,
    ])
    t.match(coverageTable(groups), /toy\.ts .*\| 16-18, /)
    const whole = { ...toy, lines: { total: 20, ran: 19 }, branches: { total: 10, ran: 9 } }
    t.strictSame(shortfalls([{ group, files: [whole] }]), [], 'a share equal to the limit is enough')
    t.match(shortfalls([{ group, files: [] }]), ['toys: nothing was measured'])
  })
})
