/**
 * Coverage as text: a row for each file, a sum for each group, and what did not run.
 */
import type { FileCoverage, Share } from './file.ts'
import { BRANCHES_MIN, type CoverageGroup, LINES_MIN } from './groups.ts'

export interface GroupCoverage {
  readonly group: CoverageGroup
  readonly files: readonly FileCoverage[]
}

/** 100 % of nothing. */
const percent = ({ total, ran }: Share): number => (total === 0 ? 100 : (100 * ran) / total)

const sum = (shares: readonly Share[]): Share => ({
  total: shares.reduce((all, { total }) => all + total, 0),
  ran: shares.reduce((all, { ran }) => all + ran, 0),
})

const totals = (files: readonly FileCoverage[]): Pick<FileCoverage, 'lines' | 'branches'> => ({
  lines: sum(files.map(({ lines }) => lines)),
  branches: sum(files.map(({ branches }) => branches)),
})

export function coverageTable(groups: readonly GroupCoverage[]): string {
  const rows = groups.flatMap(({ group, files }) => [
    row(`${group.name}, all`, totals(files), ''),
    ...files.map((file) => row(`  ${file.source}`, file, missed(file))),
  ])
  const head = [
    `| ${'source'.padEnd(44)} | lines % | branches % | did not run: lines; blocks that start at |`,
    `| ${'-'.repeat(44)} | ------: | ---------: | ---------------------------------------- |`,
  ]
  return [...head, ...rows, ''].join('\n')
}

/** A sentence for each group below a threshold. */
export function shortfalls(groups: readonly GroupCoverage[]): readonly string[] {
  return groups.flatMap(({ group, files }) => {
    const { lines, branches } = totals(files)
    const short: string[] = []
    if (lines.total === 0) short.push(`${group.name}: nothing was measured`)
    if (percent(lines) < LINES_MIN)
      short.push(`${group.name}: ${percent(lines).toFixed(1)} % of the lines ran, ${LINES_MIN} are required`)
    if (percent(branches) < BRANCHES_MIN)
      short.push(
        `${group.name}: ${percent(branches).toFixed(1)} % of the branches ran, ${BRANCHES_MIN} are required`,
      )
    return short
  })
}

function row(
  name: string,
  { lines, branches }: Pick<FileCoverage, 'lines' | 'branches'>,
  end: string,
): string {
  const cell = (share: Share, width: number): string => percent(share).toFixed(1).padStart(width)
  return `| ${name.padEnd(44)} | ${cell(lines, 7)} | ${cell(branches, 10)} | ${end} |`
}

function missed({ missedLines, missedBranches }: FileCoverage): string {
  const whole = new Set(missedLines)
  const inside = missedBranches.filter((line) => !whole.has(line))
  return inside.length === 0 ? runs(missedLines) : `${runs(missedLines)}; ${runs(inside)}`
}

/** 4, 5, 6, 9 as 4-6, 9. */
function runs(lines: readonly number[]): string {
  const found: { first: number; last: number }[] = []
  for (const line of lines) {
    const current = found.at(-1)
    if (current !== undefined && line === current.last + 1) current.last = line
    else found.push({ first: line, last: line })
  }
  return found.map(({ first, last }) => (first === last ? `${first}` : `${first}-${last}`)).join(', ')
}
