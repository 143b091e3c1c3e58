/**
 * Decides which test files start first: the longest ones, so that none of them runs alone at the end.
 *
 * Owns: the times of the last run, in a file that git ignores. Rule: without them a run is only slower.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import type { FileOutcome } from './test-runner.ts'

/** Milliseconds by file. */
export type Times = ReadonlyMap<string, number>

/** Before the first run: whole simulations, hosts and real processes take longest. */
const LONG = [/^test\/programs\/mutants\/hunts-/, /^test\/programs\/chaos\//, /^test\/(programs|process)\//]

/** A file in a group before its first run. */
const UNKNOWN_MS = 2000

export function readTimes(file: string): Times {
  try {
    const known: unknown = JSON.parse(readFileSync(file, 'utf8'))
    if (typeof known !== 'object' || known === null) return new Map()
    return new Map(Object.entries(known).filter((row): row is [string, number] => typeof row[1] === 'number'))
  } catch {
    return new Map()
  }
}

export function writeTimes(file: string, before: Times, outcomes: readonly FileOutcome[]): void {
  const times = new Map([...before, ...outcomes.map(({ file, ms }) => [file, Math.round(ms)] as const)])
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(
    file,
    JSON.stringify(
      Object.fromEntries([...times].toSorted(([one], [other]) => one.localeCompare(other, 'en'))),
    ),
  )
}

type Group = readonly string[]

/** Longest first. A file without a time comes before those with one, because it may be a long one; not so in a group, whose files are short. */
export function longestFirst(groups: readonly Group[], times: Times): readonly Group[] {
  const guess = (file: string): number => {
    const known = times.get(file)
    if (known !== undefined) return known
    const place = LONG.findIndex((pattern) => pattern.test(file))
    return Number.MAX_SAFE_INTEGER - (place === -1 ? LONG.length : place)
  }
  const length = (group: Group): number => {
    const [first = ''] = group
    if (group.length === 1) return guess(first)
    return group.reduce((sum, file) => sum + (times.get(file) ?? UNKNOWN_MS), 0)
  }
  return groups.toSorted(
    (one, other) => length(other) - length(one) || (one[0] ?? '').localeCompare(other[0] ?? '', 'en'),
  )
}
