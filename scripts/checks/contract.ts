/**
 * Finds rows of the contract without a test. A test claims a row with the row's id in brackets in its name.
 *
 * Owns: reading the names of tests, comparing them with the rows. Knows nothing of: the contents of a row, which are in
 * test/api-contract. Run as a program it prints the findings and ends with 1 if there are any.
 * Rule: an id without a row is a finding too; otherwise a misspelt claim would go unnoticed.
 */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export interface ContractArea {
  readonly name: string
  /** False: not built yet, so its rows need no test. */
  readonly built: boolean
  /** By id, which starts with the name of the area: the guarantee, and its source in brackets. */
  readonly rows: Readonly<Record<string, string>>
}

export interface TestFile {
  readonly path: string
  readonly text: string
}

export interface ContractReport {
  /** One sentence for each finding. */
  readonly findings: readonly string[]
  readonly rows: number
  readonly claimed: number
}

const TEST_NAME = /\bt\.test\(\s*(?:'((?:\\.|[^'\\\n])*)'|"((?:\\.|[^"\\\n])*)"|`((?:\\.|[^`\\])*)`)/g
/** Words joined by dots, unlike citations such as [decisions 14]. */
const CLAIM = /\[([a-z][a-z-]*(?:\.[a-z0-9_-]+)+)\]/g
const SAYS = /^\S.* \[(native|admin|decisions|record)[^\]]*\]$/

export function claimsOf(text: string): readonly string[] {
  return [...text.matchAll(TEST_NAME)].flatMap(([, single, double, template]) =>
    [...(single ?? double ?? template ?? '').matchAll(CLAIM)].map(([, id = '']) => id),
  )
}

export function contractReport(areas: readonly ContractArea[], files: readonly TestFile[]): ContractReport {
  const findings: string[] = []
  const rows = new Map(areas.flatMap((area) => Object.keys(area.rows).map((id) => [id, area])))
  const claimed = new Set<string>()
  for (const { path, text } of files)
    for (const id of claimsOf(text))
      if (rows.has(id)) claimed.add(id)
      else findings.push(`${path} claims "${id}", which is not a row of test/api-contract`)
  for (const { name, built, rows: says } of areas) {
    const ids = Object.keys(says)
    if (built && ids.length === 0) findings.push(`The area ${name} is built and has no row`)
    for (const id of ids) {
      if (!id.startsWith(`${name}.`)) findings.push(`The row "${id}" does not start with its area ${name}`)
      if (!SAYS.test(says[id] ?? ''))
        findings.push(`The row "${id}" does not end with its source in brackets`)
      if (built && !claimed.has(id)) findings.push(`No test is named after [${id}]: ${says[id]}`)
    }
  }
  return { findings, rows: rows.size, claimed: claimed.size }
}

export function testFiles(root: string): readonly TestFile[] {
  const paths = globSync('test/**/*.test.ts', { cwd: root }).map((path) => path.replaceAll('\\', '/'))
  return paths.toSorted().map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }))
}

if (import.meta.main) {
  const root = fileURLToPath(new URL('../..', import.meta.url))
  // Not a static import: files in test/ may import scripts, not the other way round.
  const rows: { CONTRACT: readonly ContractArea[] } = await import(
    new URL('../../test/api-contract/rows.ts', import.meta.url).href
  )
  const { findings, rows: all, claimed } = contractReport(rows.CONTRACT, testFiles(root))
  for (const finding of findings) process.stdout.write(`${finding}\n`)
  const later = rows.CONTRACT.filter(({ built }) => !built).map(({ name }) => name)
  process.stdout.write(
    `${all} rows, ${claimed} with a test; not built yet: ${later.join(', ') || 'nothing'}\n`,
  )
  process.exitCode = findings.length === 0 ? 0 : 1
}
