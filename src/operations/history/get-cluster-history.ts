/**
 * getClusterHistory: authorize -> ask every member for its last hour, or Prometheus for a longer range.
 *
 * Owns: the ranges, and the grid that the values of all nodes share. Rules: a member that does not answer is named and does not delay the others; the members are asked once
 * in two seconds at most, however many callers there are; no part of a request becomes part of a query.
 */
import { adminToken } from '../../access/rights.ts'
import { Attached } from '../../base/attached.ts'
import { Refusal } from '../../base/refusal.ts'
import { readHistory } from '../../telemetry/history/history-bytes.ts'
import { PrometheusError } from '../../telemetry/history/prometheus.ts'
import {
  type BySeries,
  bySeries,
  HISTORY_EVERY_MS,
  HISTORY_POINTS,
  type Values,
} from '../../telemetry/history/series.ts'
import { adminOperation } from '../base/operation.ts'
import type { Services } from '../base/services.ts'
import { noTarget } from '../base/targets.ts'

/** Seconds between two points; all ranges have as many points. */
export const RANGES = { hour: 10, day: 240, week: 1_680, month: 7_440 } as const
export type Range = keyof typeof RANGES

/** The answers of the members serve all callers for so long. */
const SHARED_MS = 2_000

export type Line = readonly (number | null)[]

export interface NodeLines {
  readonly nodeId: string
  /** Null: it did not answer. */
  readonly series: BySeries<Line> | null
}

export interface ClusterHistory {
  readonly range: Range
  readonly source: 'nodes' | 'prometheus'
  /** The beginning of the first interval, ms since 1970. */
  readonly from: number
  readonly everySeconds: number
  readonly points: number
  /** What this node can be asked for. */
  readonly ranges: readonly Range[]
  readonly nodes: readonly NodeLines[]
}

interface AskedHour {
  readonly atMs: number
  readonly history: Promise<ClusterHistory>
}

/** By the state of the node: what was asked last. */
const ASKED = new Attached<Services['state'], AskedHour>()

export const getClusterHistory = adminOperation(
  {
    id: 'getClusterHistory',
    requires: adminToken('viewer', 'cluster'),
    refuses: ['precondition_failed', 'target_refused'],
    isRoutine: true,
    target: noTarget,
  },
  async (services, _principal, { range }: { readonly range: Range }): Promise<ClusterHistory> => {
    return range === 'hour' ? sharedHour(services) : longerRange(services, range)
  },
)

function rangesOf({ prometheus }: Services): readonly Range[] {
  return prometheus === null ? ['hour'] : (Object.keys(RANGES) as Range[])
}

function sharedHour(services: Services): Promise<ClusterHistory> {
  const { state } = services
  const atMs = performance.now()
  const before = ASKED.get(state)
  if (before !== undefined && atMs - before.atMs <= SHARED_MS) return before.history
  const history = hourOf(services)
  ASKED.set(state, { atMs, history })
  return history
}

async function hourOf(services: Services): Promise<ClusterHistory> {
  const histories = await services.cluster.histories.all()
  const last = Math.floor(Date.now() / HISTORY_EVERY_MS) - 1
  const nodes = histories.map(({ nodeId, bytes }) => {
    const read = bytes === null ? null : readOrNull(services, nodeId, bytes)
    return { nodeId, series: read && linesOf(read.values, last - read.last) }
  })
  return {
    range: 'hour',
    source: 'nodes',
    from: (last - HISTORY_POINTS + 1) * HISTORY_EVERY_MS,
    everySeconds: HISTORY_EVERY_MS / 1000,
    points: HISTORY_POINTS,
    ranges: rangesOf(services),
    nodes,
  }
}

function readOrNull({ logger }: Services, peer: string, bytes: Uint8Array) {
  try {
    return readHistory(bytes)
  } catch (err) {
    logger.warn({ err, peer }, 'history of a member cannot be read')
    return null
  }
}

async function longerRange(services: Services, range: Exclude<Range, 'hour'>): Promise<ClusterHistory> {
  const { prometheus } = services
  if (prometheus === null)
    throw new Refusal(
      'precondition_failed',
      `Cannot show a ${range}: nodes keep an hour, and metrics.prometheus_url of this node is not set`,
    )
  const everySeconds = RANGES[range]
  const endSeconds = Math.floor(Date.now() / 1000 / everySeconds) * everySeconds
  const span = { endSeconds, stepSeconds: everySeconds, points: HISTORY_POINTS }
  const found = await prometheus.read(span).catch((cause: unknown) => {
    if (cause instanceof PrometheusError) throw new Refusal('target_refused', cause.message, { cause })
    throw cause
  })
  return {
    range,
    source: 'prometheus',
    from: (endSeconds - everySeconds * HISTORY_POINTS) * 1000,
    everySeconds,
    points: HISTORY_POINTS,
    ranges: rangesOf(services),
    nodes: [...found]
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .map(([nodeId, values]) => ({ nodeId, series: linesOf(values, 0) })),
  }
}

/** `later`: by how many intervals the grid ends behind the values. */
function linesOf(values: Values, later: number): BySeries<Line> {
  return bySeries((name) =>
    Array.from({ length: HISTORY_POINTS }, (_, at) => shown(values[name][at + later])),
  )
}

/** Six digits are more than a chart shows, and a tenth of the bytes. */
function shown(value: number | undefined): number | null {
  return value === undefined || !Number.isFinite(value) ? null : Number(value.toPrecision(6))
}
