/** Rows of a table of mutants, for rooms whose mutants die by test files. */
import type { Mutant } from './mutant.ts'

export type TestedRow = readonly [
  id: string,
  bug: string,
  file: string,
  find: string,
  replace: string,
  ...tests: readonly [string, ...string[]],
]

/** Files of tests are named without `test/` and `.test.ts`. */
export function killedByTests(rows: readonly TestedRow[]): readonly Mutant[] {
  return rows.map(([id, bug, file, find, replace, ...tests]) => {
    return {
      id,
      bug,
      file,
      find,
      replace,
      killers: { tests: tests.map((name) => `test/${name}.test.ts`) },
    }
  })
}

/** For a table of one component: its files are named without the folder. */
export function inFolder(folder: string, rows: readonly TestedRow[]): readonly TestedRow[] {
  return rows.map(([id, bug, file, ...rest]) => [id, bug, `${folder}${file}`, ...rest])
}
