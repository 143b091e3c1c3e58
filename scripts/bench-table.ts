/**
 * A report as text, in columns that are Markdown as well.
 */
import type { Anchor } from './bench-anchor.ts'
import type { Report, RowFigures } from './bench-report.ts'

const MIB = 1024 * 1024

interface Column {
  readonly title: string
  readonly of: (row: RowFigures) => string
}

const COLUMNS: readonly Column[] = [
  { title: 'operation', of: (row) => row.name },
  { title: 'clients', of: (row) => `${row.clients}` },
  { title: 'seconds', of: (row) => row.seconds.toFixed(1) },
  { title: 'ops/s', of: (row) => short(row.operationsPerSecond) },
  { title: 'MB/s', of: (row) => short(row.megabytesPerSecond) },
  { title: 'p50 ms', of: (row) => short(row.p50Ms) },
  { title: 'p99 ms', of: (row) => short(row.p99Ms) },
  { title: 'errors', of: (row) => `${row.errors}` },
  { title: 'node CPU s / 1,000 ops', of: (row) => short(row.nodeCpuSecondsPer1000) },
  {
    title: 'peak RSS MiB, each node',
    of: (row) => row.peakResidentBytes?.map((bytes) => (bytes / MIB).toFixed(0)).join(' / ') ?? '-',
  },
  { title: 'bytes to disk / byte stored', of: (row) => short(row.writtenPerStored) },
]

/** Three figures that mean something. */
function short(value: number | null): string {
  if (value === null) return '-'
  if (value >= 100) return Math.round(value).toLocaleString('en-US')
  return value.toFixed(value >= 10 ? 1 : 2)
}

export function tableOf(report: Report): string {
  const cells = [
    COLUMNS.map(({ title }) => title),
    ...report.rows.map((row) => COLUMNS.map(({ of }) => of(row))),
  ]
  const widths = COLUMNS.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)))
  const lines = cells.map((row) => line(row.map((cell, column) => pad(cell, column, widths[column] ?? 0))))
  const rule = line(
    widths.map((width, column) => (column === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`)),
  )
  return [
    ...heading(report),
    '',
    lines[0],
    rule,
    ...lines.slice(1),
    ...failovers(report),
    ...failures(report),
    '',
  ].join('\n')
}

const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`

const pad = (cell: string, column: number, width: number): string =>
  column === 0 ? cell.padEnd(width) : cell.padStart(width)

function heading(report: Report): string[] {
  const { version, startedAt, node, cores, memoryBytes, loadBefore, durability } = report
  const load = loadBefore === null ? '' : `, load ${loadBefore.toFixed(2)} before`
  return [
    `Holdfast ${version}, ${startedAt}, Node ${node}, ${cores} cores, ${(memoryBytes / 1e9).toFixed(0)} GB${load}`,
    `Durability: ${durability}`,
    ...anchorLine('before', report.syncBefore),
    ...anchorLine('after', report.syncAfter),
  ]
}

function anchorLine(when: string, anchor: Anchor | null): string[] {
  if (anchor === null) return []
  const { perSecond, p50Ms, p99Ms } = anchor
  return [
    `Disk ${when}: ${short(perSecond)} times a second 4 KiB appended + fdatasync, p50 ${short(p50Ms)} ms, p99 ${short(p99Ms)} ms`,
  ]
}

function failovers({ failovers }: Report): string[] {
  return failovers.map(
    ({ name, rounds, p50Ms, maxMs }) =>
      `${name} (${rounds} fresh clusters): both other nodes took an upload after p50 ${short(p50Ms)} ms, at most ${short(maxMs)} ms`,
  )
}

function failures(report: Report): string[] {
  return report.rows.flatMap((row) =>
    row.firstError === null ? [] : [`${row.name}: first error: ${row.firstError}`],
  )
}
