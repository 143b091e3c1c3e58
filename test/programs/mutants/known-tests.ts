/**
 * The tests that are known to kill, by mutant: `known-tests.json`, sorted. Of mutants that the whole file takes long to kill; the others
 * have none.
 *
 * Owns: the rows, which test of an output failed, how a runner is asked for one test. Rule: it is a short cut. A mutant that lives in
 * its known test is hunted with the whole file, and a known test has to pass alone when nothing is wrong.
 */
import { readFileSync, writeFileSync } from 'node:fs'

export interface KnownTest {
  readonly file: string
  /** Names, from the outermost test to the one that fails. */
  readonly path: readonly string[]
}

interface Row extends KnownTest {
  readonly id: string
}

const FAR_IN = 4
const LINE = /^(?<indent> *)(?:# Subtest: (?<begun>.*)|not ok \d+ - .*)$/gm

export function readTests(file: URL | string): Map<string, KnownTest> {
  const rows = JSON.parse(readFileSync(file, 'utf8')) as readonly Row[]
  return new Map(rows.map(({ id, ...test }) => [id, test]))
}

export function writeTests(file: URL | string, tests: ReadonlyMap<string, KnownTest>): void {
  const sorted = [...tests].toSorted(([one], [other]) => one.localeCompare(other, 'en', { numeric: true }))
  const rows: readonly Row[] = sorted.map(([id, { file: of, path }]) => ({ id, file: of, path }))
  writeFileSync(file, `${JSON.stringify(rows, null, 2)}\n`)
}

/** Of the first failure in what a file printed; empty: no test of it failed. */
export function failingPath(output: string): readonly string[] {
  const open: string[] = []
  for (const { groups = {} } of output.matchAll(LINE)) {
    open.length = Math.min(open.length, (groups['indent'] ?? '').length / FAR_IN)
    if (groups['begun'] === undefined) return open
    open.push(groups['begun'])
  }
  return []
}

/** For the environment of a test file: nothing else of it runs. */
export function onlyTest({ path }: KnownTest): { readonly TAP_GREP: string } {
  const patterns = path.map((name) => `/^${name.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&')}$/`)
  return { TAP_GREP: patterns.join('\n') }
}
