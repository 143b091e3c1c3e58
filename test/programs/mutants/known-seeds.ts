/** The seeds that are known to kill, by mutant: `known-seeds.json`, sorted. Mutants that die by tests have none. */
import { readFileSync, writeFileSync } from 'node:fs'

interface Row {
  readonly id: string
  readonly seed: number
}

export function readSeeds(file: URL | string): Map<string, number> {
  const rows = JSON.parse(readFileSync(file, 'utf8')) as readonly Row[]
  return new Map(rows.map(({ id, seed }) => [id, seed]))
}

export function writeSeeds(file: URL | string, seeds: ReadonlyMap<string, number>): void {
  const sorted = [...seeds].toSorted(([one], [other]) => one.localeCompare(other, 'en', { numeric: true }))
  const rows: readonly Row[] = sorted.map(([id, seed]) => ({ id, seed }))
  writeFileSync(file, `${JSON.stringify(rows, null, 2)}\n`)
}
