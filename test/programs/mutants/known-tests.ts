/**
 * The tests that are known to kill, by mutant: `known-tests.json`, sorted. Only for mutants whose whole test file takes long; the others
 * have none.
 *
 * Owns: the rows, the failed test in an output, how a runner runs a single test. Rule: it is a short cut. A mutant that survives
 * its known test is hunted with the whole file, and a known test must pass by itself without the bug.
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
const LINE = /^(?<indent> *)(?:# Subtest: (?<started>.*)|not ok \d+ - .*)$/gm

export function readTests(file: URL | string): Map<string, KnownTest> {
  const rows = JSON.parse(readFileSync(file, 'utf8')) as readonly Row[]
  return new Map(rows.map(({ id, ...test }) => [id, test]))
}

export function writeTests(file: URL | string, tests: ReadonlyMap<string, KnownTest>): void {
  const sorted = [...tests].toSorted(([one], [other]) => one.localeCompare(other, 'en', { numeric: true }))
  const rows: readonly Row[] = sorted.map(([id, { file: of, path }]) => ({ id, file: of, path }))
  writeFileSync(file, `${JSON.stringify(rows, null, 2)}\n`)
}

/** The path of the first failure in the output of a file; empty: no test failed. */
export function failingPath(output: string): readonly string[] {
  const open: string[] = []
  for (const { groups = {} } of output.matchAll(LINE)) {
    open.length = Math.min(open.length, (groups['indent'] ?? '').length / FAR_IN)
    if (groups['started'] === undefined) return open
    open.push(groups['started'])
  }
  return []
}

/** Environment that makes a test file run only this test. */
export function onlyTest({ path }: KnownTest): { readonly TAP_GREP: string } {
  const patterns = path.map((name) => `/^${name.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&')}$/`)
  return { TAP_GREP: patterns.join('\n') }
}
