/**
 * The figures of all turns, their medians, and the page made of them.
 *
 * Rules: the passes stand beside each median; what could not be measured is a dash; the comparison by time is left out when the machine was not quiet.
 */
import { median } from '../bench/statistics.ts'
import { type Column, columnsOf } from '../bench/table.ts'
import { disquiet } from './machine.ts'
import { BOUND_ROW, type Cell, type Turn } from './turn.ts'

export interface RaceReport {
  readonly startedAt: string
  readonly node: string
  readonly processors: number
  readonly memoryBytes: number
  readonly loadBefore: number
  readonly clients: number
  readonly seconds: number
  readonly operations: number | null
  readonly passes: number
  readonly compareEach: number
  /** In the order of the first pass. */
  readonly systems: readonly string[]
  readonly turns: readonly Turn[]
}

/** Three significant digits. */
export function short(value: number | null): string {
  if (value === null || Number.isNaN(value)) return '-'
  if (Math.abs(value) >= 100) return Math.round(value).toLocaleString('en-US')
  return Number(value.toPrecision(3)).toString()
}

/** A table of one figure: what it is called, where it stands, which of two is better. */
interface Figure {
  readonly title: string
  readonly of: (cell: Cell) => number | null
  /** Whether it depends on what else runs on the machine. */
  readonly isTimed: boolean
  readonly isCompared: boolean
}

const MIB = 1024 * 1024

const FIGURES: readonly Figure[] = [
  {
    title: 'Processor time of the nodes for an operation, microseconds',
    of: ({ nodeMicros }) => nodeMicros,
    isTimed: false,
    isCompared: true,
  },
  { title: 'Operations a second', of: ({ perSecond }) => perSecond, isTimed: true, isCompared: true },
  { title: 'p50, ms', of: ({ p50Ms }) => p50Ms, isTimed: true, isCompared: false },
  { title: 'p99, ms', of: ({ p99Ms }) => p99Ms, isTimed: true, isCompared: false },
  {
    title: 'Bytes written by the processes for each byte stored (`write_bytes` of /proc/PID/io)',
    of: ({ writtenPerStored }) => writtenPerStored,
    isTimed: false,
    isCompared: true,
  },
  {
    title: 'Flushes of the disk for an operation (/proc/diskstats: of the whole disk, for all processes)',
    of: ({ flushes }) => flushes,
    isTimed: true,
    isCompared: false,
  },
  {
    title: 'Resident memory of the nodes together, the peak of the row, MiB',
    of: ({ residentBytes }) => (residentBytes === null ? null : residentBytes / MIB),
    isTimed: false,
    isCompared: false,
  },
  {
    title: 'Processor time of the client for an operation, microseconds',
    of: ({ clientMicros }) => clientMicros,
    isTimed: false,
    isCompared: false,
  },
]

export function passesOf(
  report: RaceReport,
  { system, row }: { system: string; row: string },
): readonly Cell[] {
  return report.turns
    .filter((turn) => turn.system === system)
    .flatMap(({ cells }) => cells.filter((cell) => cell.row === row))
}

/** Why the figures by time prove nothing; empty when the machine was quiet. */
export function reasonsAgainst({ loadBefore, turns }: RaceReport): readonly string[] {
  const cells = turns.flatMap(({ cells }) => cells)
  const failed = cells.filter(({ errors }) => errors > 0)
  return [
    ...disquiet(
      loadBefore,
      cells.map(({ machine }) => machine),
    ),
    ...failed.map(({ name, errors, firstError }) => `${name}: ${errors} errors, the first: ${firstError}`),
  ]
}

export function pageOf(report: RaceReport): string {
  const reasons = reasonsAgainst(report)
  return [
    ...heading(report),
    '',
    ...(reasons.length === 0
      ? ['The machine was quiet: the figures below stand.']
      : [
          'No verdict by time: the machine was not quiet. Processor time, bytes and memory compare nevertheless, with care.',
          '',
          ...reasons.map((reason) => `- ${reason}`),
        ]),
    ...FIGURES.flatMap((figure) => section(report, figure, reasons.length === 0)),
    '',
    ...idleLines(report),
    ...boundLines(report),
    '',
  ].join('\n')
}

function heading(report: RaceReport): string[] {
  const { startedAt, node, processors, memoryBytes, loadBefore } = report
  const versions = report.systems.map((system) => {
    const turn = report.turns.find((one) => one.system === system)
    return `- ${system}: ${turn?.version ?? 'did not run'}. ${turn?.durability ?? ''}`
  })
  return [
    `# Race, ${startedAt}`,
    '',
    `${processors} processors, ${(memoryBytes / 1e9).toFixed(0)} GB, Node ${node}, load ${loadBefore.toFixed(2)} before. Three nodes of each system and the client on this machine; ` +
      `${report.clients} clients where a row says no other number, ${report.operations === null ? `${report.seconds} s` : `${report.operations} operations`} a row, ${report.passes} passes, each turn on fresh nodes, the order turned round with each pass. ` +
      `One answer in ${report.compareEach} was compared with what was written. Medians; the passes in brackets.`,
    '',
    ...versions,
  ]
}

interface Line {
  readonly name: string
  readonly bySystem: readonly (readonly number[])[]
}

function section(report: RaceReport, figure: Figure, isQuiet: boolean): string[] {
  const lines = rowsIn(report)
    .map(({ id, name }): Line => {
      const bySystem = report.systems.map((system) =>
        passesOf(report, { system, row: id })
          .map(figure.of)
          .filter((value) => value !== null),
      )
      return { name, bySystem }
    })
    .filter(({ bySystem }) => bySystem.some((values) => values.length > 0))
  if (lines.length === 0) return []
  const columns: Column<Line>[] = [
    { title: 'row', of: ({ name }) => name },
    ...report.systems.map((system, at) => ({
      title: system,
      of: (line: Line) => shown(line.bySystem[at] ?? []),
    })),
  ]
  if (figure.isCompared && report.systems.length > 1)
    columns.push(
      ...report.systems
        .slice(1)
        .map((system, at) =>
          ratioColumn(report, { system, at: at + 1, isShown: isQuiet || !figure.isTimed }),
        ),
    )
  return ['', `## ${figure.title}`, '', ...columnsOf(columns, lines)]
}

function ratioColumn(
  { systems }: RaceReport,
  { system, at, isShown }: { system: string; at: number; isShown: boolean },
): Column<Line> {
  return {
    title: `${systems[0]} / ${system}`,
    of: ({ bySystem }) =>
      isShown ? short(median(bySystem[0] ?? []) / median(bySystem[at] ?? [])) : 'no verdict',
  }
}

function shown(values: readonly number[]): string {
  if (values.length === 0) return '-'
  return values.length === 1
    ? short(median(values))
    : `${short(median(values))} (${values.map(short).join(', ')})`
}

export function rowsIn({
  turns,
}: Pick<RaceReport, 'turns'>): readonly { readonly id: string; readonly name: string }[] {
  const names = new Map<string, string>()
  for (const { row, name } of turns.flatMap(({ cells }) => cells)) names.set(row, name)
  return [...names].map(([id, name]) => ({ id, name }))
}

function idleLines({ systems, turns }: RaceReport): string[] {
  return systems.flatMap((system) => {
    const own = turns.filter((turn) => turn.system === system)
    const shares = own.map(({ idleShare }) => idleShare).filter((share) => share !== null)
    const compared = own.reduce((sum, turn) => sum + turn.compared, 0)
    const idle =
      shares.length === 0
        ? 'not measured'
        : `${shares.map((share) => (100 * share).toFixed(1)).join(', ')} % of a processor`
    return [`- ${system}: idle, three nodes use ${idle}; ${compared} answers compared, no difference.`]
  })
}

/** What the disk takes beside what the nodes stored, in the same turn. */
function boundLines({ turns }: RaceReport): string[] {
  return turns.flatMap(({ system, bound, cells }) => {
    const cell = cells.find(({ row }) => row === BOUND_ROW)
    if (bound === null || cell === undefined) return []
    const share = (100 * cell.perSecond) / bound.bodiesPerSecond
    const taken = `the disk takes ${short(bound.bodiesPerSecond)} bodies of 64 MiB a second three times, for ${short(bound.cpuMs)} ms of processor each`
    return [`- ${system}: ${taken}; ${cell.name} reached ${share.toFixed(0)} % of that.`]
  })
}
