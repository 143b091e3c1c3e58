/**
 * A report as text, in columns that are also valid Markdown.
 */
import type { Anchor, Bounds } from './anchor.ts'
import { ETCD_MISSING, type RaftFigures, type RaftTurn } from './raft.ts'
import type { Report, RowFigures } from './report.ts'

const MIB = 1024 * 1024

export interface Column<Row> {
  readonly title: string
  readonly of: (row: Row) => string
}

const COLUMNS: readonly Column<RowFigures>[] = [
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

const RAFT_COLUMNS: readonly Column<RaftTurn>[] = [
  { title: 'system, turn by turn', of: (turn) => turn.system },
  { title: 'seconds', of: (turn) => turn.seconds.toFixed(1) },
  { title: 'ops/s', of: (turn) => short(turn.operationsPerSecond) },
  { title: 'p50 ms', of: (turn) => short(turn.p50Ms) },
  { title: 'p99 ms', of: (turn) => short(turn.p99Ms) },
  { title: 'errors', of: (turn) => `${turn.errors}` },
  { title: 'CPU s of the nodes / 1,000 ops', of: (turn) => short(turn.nodeCpuSecondsPer1000) },
]

/** Three significant digits. */
function short(value: number | null): string {
  if (value === null) return '-'
  if (value >= 100) return Math.round(value).toLocaleString('en-US')
  return value.toFixed(value >= 10 ? 1 : 2)
}

export function tableOf(report: Report): string {
  return [
    ...heading(report),
    '',
    ...(report.rows.length > 0 ? columnsOf(COLUMNS, report.rows) : []),
    ...failovers(report),
    ...raft(report.raft),
    ...failures(report),
    '',
  ].join('\n')
}

export function columnsOf<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): string[] {
  const cells = [columns.map(({ title }) => title), ...rows.map((row) => columns.map(({ of }) => of(row)))]
  const widths = columns.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)))
  const lines = cells.map((row) => line(row.map((cell, column) => pad(cell, column, widths[column] ?? 0))))
  const rule = line(
    widths.map((width, column) => (column === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`)),
  )
  return [...lines.slice(0, 1), rule, ...lines.slice(1)]
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
    ...boundsLine(report.bounds),
  ]
}

function boundsLine(bounds: Bounds | null): string[] {
  if (bounds === null) return []
  const { diskWrite, cipher } = bounds
  return [
    `Bounds: disk ${short(diskWrite)} MB/s appended 4 MiB + fdatasync, ${short(diskWrite / 3)} for three copies; AES-256-GCM ${short(cipher)} MB/s on one core`,
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

function raft(figures: RaftFigures | null): string[] {
  if (figures === null) return []
  const { name, clients, etcd, turns, ratio } = figures
  const verdict =
    etcd === null
      ? ETCD_MISSING
      : `holdfast answers ${short(ratio)} for each 1 of etcd ${etcd} (its HTTP gateway, as Debian sets it up)`
  return ['', `${name}, ${clients} clients: ${verdict}`, '', ...columnsOf(RAFT_COLUMNS, turns)]
}

function failures(report: Report): string[] {
  const turns = (report.raft?.turns ?? []).map((turn) => ({ ...turn, name: turn.system }))
  return [...report.rows, ...turns].flatMap((row) =>
    row.firstError === null ? [] : [`${row.name}: first error: ${row.firstError}`],
  )
}
