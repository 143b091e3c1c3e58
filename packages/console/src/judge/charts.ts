/**
 * From the series of nodes to the lines of charts: which of them, how those of several nodes become one, the scale, and the drawing. Pure.
 *
 * Rules: what is not known is a gap and never 0; of rates and bytes the nodes make a sum, of times and lags the worst one counts.
 */
import type { ClusterHistory } from '../../../client/src/admin.ts'

export type Series = NonNullable<ClusterHistory['nodes'][number]['series']>
export type SeriesName = keyof Series
export type Unit = 'perSecond' | 'bytesPerSecond' | 'seconds' | 'bytes' | 'entries'

export const CHART_NAMES = [
  'requests',
  'results',
  'answers',
  'bodies',
  'log',
  'lag',
  'disk',
  'loop',
  'memory',
] as const
export type ChartName = (typeof CHART_NAMES)[number]

export interface ChartPlan {
  readonly unit: Unit
  readonly together: 'sum' | 'worst'
  /** Each the sum of these series. */
  readonly lines: Readonly<Record<string, readonly SeriesName[]>>
}

export const CHARTS: Readonly<Record<ChartName, ChartPlan>> = {
  requests: {
    unit: 'perSecond',
    together: 'sum',
    lines: {
      native: ['nativeOk', 'nativeRefused', 'nativeFailed'],
      s3: ['s3Ok', 's3Refused', 's3Failed'],
      admin: ['adminOk', 'adminRefused', 'adminFailed'],
    },
  },
  results: {
    unit: 'perSecond',
    together: 'sum',
    lines: {
      ok: ['nativeOk', 's3Ok', 'adminOk'],
      refused: ['nativeRefused', 's3Refused', 'adminRefused'],
      failed: ['nativeFailed', 's3Failed', 'adminFailed'],
    },
  },
  answers: { unit: 'seconds', together: 'worst', lines: { p50: ['answerP50'], p99: ['answerP99'] } },
  bodies: {
    unit: 'bytesPerSecond',
    together: 'sum',
    lines: { received: ['receivedBytes'], sent: ['sentBytes'] },
  },
  log: { unit: 'seconds', together: 'worst', lines: { flush: ['flushP99'], commit: ['commitP99'] } },
  lag: { unit: 'entries', together: 'worst', lines: { follower: ['followerLag'], unapplied: ['unapplied'] } },
  disk: { unit: 'bytes', together: 'sum', lines: { used: ['diskUsed'], total: ['diskTotal'] } },
  loop: { unit: 'seconds', together: 'worst', lines: { loop: ['eventLoopP99'] } },
  memory: { unit: 'bytes', together: 'sum', lines: { memory: ['memory'], heap: ['heap'] } },
}

export type Value = number | null

/** The values of each line, in the order of the plan. `nodes`: those that are shown. */
export function linesOf(
  { lines, together }: ChartPlan,
  nodes: readonly Series[],
  points: number,
): readonly (readonly Value[])[] {
  return Object.values(lines).map((names) =>
    Array.from({ length: points }, (_, at) => {
      const ofNodes = nodes.map((series) => sumOf(names.map((name) => series[name][at] ?? null)))
      return together === 'sum' ? sumOf(ofNodes) : worstOf(ofNodes)
    }),
  )
}

const knownOf = (values: readonly Value[]): readonly number[] => values.flatMap((value) => value ?? [])

function sumOf(values: readonly Value[]): Value {
  const known = knownOf(values)
  return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0)
}

function worstOf(values: readonly Value[]): Value {
  const known = knownOf(values)
  return known.length === 0 ? null : Math.max(...known)
}

/** The place of the last value that some line has; null: none has any. */
export function lastKnown(lines: readonly (readonly Value[])[]): number | null {
  const last = Math.max(-1, ...lines.map((line) => line.findLastIndex((value) => value !== null)))
  return last === -1 ? null : last
}

const STEPS_MOST = 4
const MANTISSAS = [1, 2, 5, 10]

/** Marks from 0 to at least the largest value, evenly spaced and round: of bytes by powers of 1024, of entries whole. */
export function marksOf(lines: readonly (readonly Value[])[], unit: Unit): readonly number[] {
  const most = lines.reduce((top, line) => Math.max(top, worstOf(line) ?? 0), 0)
  if (most === 0) return [0, 1]
  const isBytes = unit === 'bytes' || unit === 'bytesPerSecond'
  const base = isBytes && most >= 1024 ? 1024 ** Math.floor(Math.log2(most) / 10) : 1
  const rough = most / base / STEPS_MOST
  const power = 10 ** Math.floor(Math.log10(rough))
  const round = power * (MANTISSAS.find((mantissa) => mantissa * power >= rough * 0.999999) ?? 10)
  const step = base * (unit === 'entries' ? Math.max(1, round) : round)
  const marks = [0]
  while ((marks.at(-1) ?? 0) < most * 0.999999) marks.push(marks.length * step)
  return marks
}

/** The drawing of a line in a box as wide as its points less one, and 100 high: `M0 50L1 40`, with gaps. A single point is as wide as half a point. */
export function drawn(line: readonly Value[], top: number): string {
  const isAlone = (at: number): boolean => (line[at - 1] ?? null) === null && (line[at + 1] ?? null) === null
  return line
    .map((value, at) => {
      if (value === null) return ''
      const y = Math.round((100 - (100 * value) / top) * 100) / 100
      const begins = (line[at - 1] ?? null) === null
      return `${begins ? 'M' : 'L'}${at} ${y}${isAlone(at) ? 'h.5' : ''}`
    })
    .join('')
}
