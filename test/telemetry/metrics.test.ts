/** What a scrape shows of requests, the first one and the next. */
import t from 'tap'
import { Metrics } from '../../src/telemetry/metrics.ts'

t.test('requests are counted by API, operation and code, and a scrape changes nothing', async (t) => {
  const metrics = new Metrics({ version: '1', nodeId: 'n1', samples: () => [] })
  const seen = {
    api: 'native',
    operation: 'getObject',
    status: 200,
    seconds: 0.02,
    firstByteSeconds: 0.0003,
  } as const
  for (const status of [200, 200, 404]) {
    metrics.requestStarted('native')
    metrics.requestFinished({ ...seen, status, receivedBytes: 3, sentBytes: 5 })
  }
  metrics.requestStarted('s3')
  const expected = [
    'holdfast_http_requests_total{api="native",operation="getObject",code="200"} 2',
    'holdfast_http_requests_total{api="native",operation="getObject",code="404"} 1',
    'holdfast_http_request_duration_seconds_count{api="native",operation="getObject"} 3',
    'holdfast_http_time_to_first_byte_seconds_bucket{api="native",operation="getObject",le="0.00025"} 0',
    'holdfast_http_time_to_first_byte_seconds_bucket{api="native",operation="getObject",le="0.0005"} 3',
    'holdfast_http_received_bytes_total{api="native"} 9',
    'holdfast_http_sent_bytes_total{api="native"} 15',
    'holdfast_http_inflight_requests{api="native"} 0',
    'holdfast_http_inflight_requests{api="s3"} 1',
  ]
  for (const scrape of [1, 2]) {
    const lines = (await metrics.render()).split('\n')
    for (const line of expected) t.ok(lines.includes(line), `${line}, scrape ${scrape}`)
  }
  metrics.requestFinished({ ...seen, api: 'admin', status: 503, receivedBytes: 0, sentBytes: 1 })
  const { requests, answers, ...bytes } = metrics.totals()
  t.match(requests, { native: { Ok: 2, Refused: 1, Failed: 0 }, s3: { Ok: 0 }, admin: { Failed: 1 } })
  t.same(bytes, { receivedBytes: 9, sentBytes: 16 })
  t.same(answers.counts.slice(0, 4), [0, 0, 3, 0], 'without the admin API')
})
