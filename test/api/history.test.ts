/** GET /cluster/history: an hour from the members, longer from Prometheus, and who may see it. */
import t from 'tap'
import { writeHistory } from '../../src/telemetry/history/history-bytes.ts'
import { HistoryRing } from '../../src/telemetry/history/history-ring.ts'
import { PrometheusError, type Span } from '../../src/telemetry/history/prometheus.ts'
import {
  HISTORY_EVERY_MS,
  HISTORY_POINTS,
  type Point,
  SERIES,
  type SeriesName,
} from '../../src/telemetry/history/series.ts'
import { ApiWorld } from './api-world.ts'

const PATH = '/admin/api/v1/cluster/history'

type Lines = Record<SeriesName, Float64Array>

interface Shown {
  readonly from: string
  readonly nodes: readonly {
    readonly nodeId: string
    readonly reachable: boolean
    readonly series: Readonly<Record<string, readonly (number | null)[]>> | null
  }[]
}

t.test('an hour, from the memory of the nodes [membership.history]', async (t) => {
  const world = await ApiWorld.start(t)
  const ring = new HistoryRing()
  const point = Object.fromEntries(SERIES.map((name) => [name, 1 / 3])) as Point
  const written = Math.floor(Date.now() / HISTORY_EVERY_MS) - 3
  ring.push(written, { ...point, commitP99: NaN })
  world.memory.histories = [
    { nodeId: 'n1', bytes: writeHistory(ring), why: null },
    { nodeId: 'n2', bytes: null, why: 'unreachable' },
    { nodeId: 'n3', bytes: Buffer.from('what?'), why: null },
  ]
  const ask = async (role: 'viewer' | 'owner', tenant?: string) =>
    world.call({ admin: true, token: await world.memory.adminToken(role, tenant), path: PATH })
  const { status, json, bytes } = await ask('viewer')
  t.equal(status, 200)
  t.match(json, { range: 'hour', source: 'nodes', everySeconds: 10, points: 360, ranges: ['hour'] })
  const { from, nodes } = JSON.parse(bytes.toString()) as Shown
  t.match(nodes, [
    { nodeId: 'n1', reachable: true },
    { nodeId: 'n2', reachable: false, series: null },
    { nodeId: 'n3', reachable: false, series: null },
  ])
  const at = written - Date.parse(from) / HISTORY_EVERY_MS
  for (const name of SERIES) {
    const line = nodes[0]?.series?.[name] ?? []
    t.equal(line.length, HISTORY_POINTS, name)
    t.equal(line[at], name === 'commitP99' ? null : 0.333333, name)
    t.ok(
      line.every((value, n) => n === at || value === null),
      `${name}: the rest is not known`,
    )
  }
  await world.memory.tenant('acme')
  t.match(await ask('owner', 'acme'), { status: 403, code: 'tenant_scope_denied' })
  const token = await world.memory.adminToken('viewer')
  t.match(await world.call({ admin: true, token, path: `${PATH}?range=week` }), {
    status: 412,
    code: 'precondition_failed',
    json: { detail: /metrics\.prometheus_url/ },
  })
  t.equal((await world.call({ admin: true, token, path: `${PATH}?range=year` })).status, 400)
  t.equal((await world.call({ admin: true, token, path: `${PATH}?query=up` })).status, 400)
})

t.test('longer, from Prometheus [membership.history.prometheus]', async (t) => {
  const spans: Span[] = []
  let fault: Error | null = null
  const read = async (span: Span) => {
    spans.push(span)
    if (fault !== null) throw fault
    const line = new Float64Array(span.points).fill(7)
    const series = Object.fromEntries(SERIES.map((name) => [name, line] as const)) as Lines
    return new Map<string, Lines>([
      ['n2', series],
      ['n1', series],
    ])
  }
  const world = await ApiWorld.start(t)
  world.memory.services.prometheus = { read, close: async () => undefined }
  const token = await world.memory.adminToken('viewer')
  const ask = (range: string) => world.call({ admin: true, token, path: `${PATH}?range=${range}` })
  for (const [range, everySeconds] of [
    ['day', 240],
    ['week', 1680],
    ['month', 7440],
  ] as const) {
    const { json } = await ask(range)
    t.match(json, { range, source: 'prometheus', everySeconds, points: 360 })
    t.match(json, { ranges: ['hour', 'day', 'week', 'month'], nodes: [{ nodeId: 'n1' }, { nodeId: 'n2' }] })
    const { endSeconds = 0, points } = spans.at(-1) ?? {}
    t.equal(points, 360)
    t.equal(Date.parse(String(json['from'])) / 1000, endSeconds - everySeconds * 360)
  }
  fault = new PrometheusError('Prometheus answers 400: parse error')
  t.match(await ask('day'), { status: 424, code: 'target_refused', json: { detail: /parse error/ } })
})
