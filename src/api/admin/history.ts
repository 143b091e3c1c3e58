/**
 * The route of what charts show: the last hour of all nodes, or longer from Prometheus. No rules here.
 */
import Type, { type Static } from 'typebox'
import {
  type ClusterHistory,
  getClusterHistory,
  RANGES,
  type Range,
} from '../../operations/history/get-cluster-history.ts'
import { HISTORY_POINTS, SERIES, SERIES_MEANING, type SeriesName } from '../../telemetry/history/series.ts'
import { adminRoute, type RouteDefinition } from '../route.ts'
import { orNull, Time, timeText } from '../wire.ts'

const RANGE_NAMES = Object.keys(RANGES) as Range[]

const HistoryQuery = Type.Object(
  {
    range: Type.Optional(
      Type.Enum(RANGE_NAMES, {
        description:
          'hour, which nodes keep in memory, if absent; the others come from metrics.prometheus_url',
      }),
    ),
  },
  { additionalProperties: false },
)

const Line = (description: string) =>
  Type.Array(orNull(Type.Number()), { description, minItems: HISTORY_POINTS, maxItems: HISTORY_POINTS })

const Lines = Type.Object(
  Object.fromEntries(SERIES.map((name) => [name, Line(SERIES_MEANING[name])] as const)) as Record<
    SeriesName,
    ReturnType<typeof Line>
  >,
  { additionalProperties: false },
)

export const HistoryView = Type.Object(
  {
    range: Type.Enum(RANGE_NAMES),
    source: Type.Enum(['nodes', 'prometheus']),
    from: Time,
    everySeconds: Type.Integer({ minimum: 1, description: 'Seconds between two points' }),
    points: Type.Integer({ minimum: 1, description: 'Points of each series' }),
    ranges: Type.Array(Type.Enum(RANGE_NAMES), { description: 'What this node can be asked for' }),
    nodes: Type.Array(
      Type.Object(
        {
          nodeId: Type.String(),
          reachable: Type.Boolean({ description: 'false: it did not answer in time, and series is null' }),
          series: orNull(Lines),
        },
        { additionalProperties: false },
      ),
      { description: 'Every member, or every node that Prometheus knows' },
    ),
  },
  { additionalProperties: false },
)

export const historyRoutes: readonly RouteDefinition[] = [
  adminRoute(
    getClusterHistory,
    {
      method: 'GET',
      path: '/cluster/history',
      summary: 'Get the figures of all nodes over the last hour, day, week or month',
      description:
        'Each series has one value for each interval, the oldest first; null: not known, or there was nothing to measure. Nodes keep the last hour in memory, from their start on; longer ranges need a Prometheus.',
      query: HistoryQuery,
      success: {
        status: 200,
        description: 'The values',
        content: { type: 'application/json', schema: HistoryView },
      },
      example: {},
    },
    async (services, principal, { query: { range = 'hour' } }) => {
      return { kind: 'json', body: historyView(await getClusterHistory(services, principal, { range })) }
    },
  ),
]

function historyView({ from, ranges, nodes, ...same }: ClusterHistory): Static<typeof HistoryView> {
  return {
    ...same,
    from: timeText(from),
    ranges: [...ranges],
    nodes: nodes.map(({ nodeId, series }) => ({
      nodeId,
      reachable: series !== null,
      series: copied(series),
    })),
  }
}

/** The schema has lists that may be changed. */
function copied(series: ClusterHistory['nodes'][number]['series']): Static<typeof Lines> | null {
  if (series === null) return null
  return Object.fromEntries(SERIES.map((name) => [name, [...series[name]]] as const)) as Static<typeof Lines>
}
