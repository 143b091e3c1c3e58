/** What a node asks of Prometheus, at a stand-in that answers as Prometheus does. */
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import t, { type Test } from 'tap'
import { Prometheus, PrometheusError } from '../../src/telemetry/history/prometheus.ts'
import { queriesOf } from '../../src/telemetry/history/prometheus-queries.ts'
import { SERIES } from '../../src/telemetry/history/series.ts'

const SPAN = { endSeconds: 1_800_000_000, stepSeconds: 1680, points: 360 }

async function standIn(t: Test, answer: RequestListener): Promise<Prometheus> {
  const server = createServer(answer).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as AddressInfo
  const prometheus = new Prometheus({ url: `http://127.0.0.1:${port}/`, job: 'holdfast' })
  t.teardown(async () => {
    await prometheus.close()
    server.closeAllConnections()
    server.close()
  })
  return prometheus
}

const matrix = (result: readonly object[]): string =>
  JSON.stringify({ status: 'success', data: { resultType: 'matrix', result } })

t.test('asks once for each series, and puts the values on one grid', async (t) => {
  const asked: URLSearchParams[] = []
  const prometheus = await standIn(t, async (request, response) => {
    t.match(request, { method: 'POST', url: '/api/v1/query_range' })
    asked.push(new URLSearchParams(await text(request)))
    const values = [
      [SPAN.endSeconds - 2 * SPAN.stepSeconds, '1.5'],
      [SPAN.endSeconds - SPAN.stepSeconds, 'NaN'],
      [SPAN.endSeconds, '4'],
    ]
    response.end(matrix([{ metric: { node: 'n1' }, values }]))
  })
  const nodes = await prometheus.read(SPAN)
  t.equal(asked.length, SERIES.length)
  t.same(new Set(asked.map((form) => form.get('query'))), new Set(Object.values(queriesOf('holdfast', 1680))))
  t.match(Object.fromEntries(asked[0] ?? []), { step: '1680', end: '1800000000', start: '1799396880' })
  t.same([...nodes.keys()], ['n1'])
  const series = nodes.get('n1')
  for (const name of SERIES) t.same([...(series?.[name].slice(-4) ?? [])], [NaN, 1.5, NaN, 4], name)
})

t.test('says what is wrong, and reads no more than it must', async (t) => {
  const cases: readonly (readonly [string, RequestListener, RegExp])[] = [
    [
      'a refusal',
      (_, response) => void response.writeHead(400).end('{"status":"error","error":"parse error"}'),
      /answers 400: parse error/,
    ],
    ['a page', (_, response) => void response.writeHead(502).end('<html>'), /answers 502$/],
    [
      'no JSON',
      (_, response) => void response.end('<html>'),
      /not answer with JSON.*metrics\.prometheus_url/,
    ],
    [
      'a vector',
      (_, response) => void response.end('{"status":"success","data":{"resultType":"vector"}}'),
      /matrix/,
    ],
    [
      'a row without a node',
      (_, response) => void response.end(matrix([{ metric: {}, values: [] }])),
      /without a node/,
    ],
    [
      'a value without a number',
      (_, response) => void response.end(matrix([{ metric: { node: 'n1' }, values: [[1, 2]] }])),
      /without a time or a number/,
    ],
    [
      'too many nodes',
      (_, response) =>
        void response.end(
          matrix(Array.from({ length: 65 }, (__, n) => ({ metric: { node: `n${n}` }, values: [] }))),
        ),
      /at most 64 nodes/,
    ],
    [
      'too many bytes',
      (_, response) => void response.end(Buffer.alloc(5 * 1024 * 1024, ' ')),
      /more than \d+ bytes/,
    ],
    ['a connection that breaks', (request) => void request.socket.destroy(), /does not answer/],
  ]
  for (const [what, answer, message] of cases) {
    const prometheus = await standIn(t, answer)
    await t.rejects(prometheus.read(SPAN), { message }, what)
    const error: unknown = await prometheus.read(SPAN).catch((cause: unknown) => cause)
    t.ok(error instanceof PrometheusError, what)
  }
})

t.test('a job cannot leave its quotes', async (t) => {
  for (const job of ['a"b', 'a\\b', 'a\nb']) t.throws(() => queriesOf(job, 60), TypeError)
})
