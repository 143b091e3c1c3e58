/** Which requests are traced, what their spans say, and what becomes of them when the collector is slow or gone. */
import t from 'tap'
import { createDataServer } from '../../src/api/server/data-server.ts'
import { NO_METER } from '../../src/api/request-log.ts'
import { traceRequests } from '../../src/api/trace-requests.ts'
import { openTracing, tracedServices } from '../../src/service/tracing.ts'
import { SpanExporter } from '../../src/telemetry/tracing/span-exporter.ts'
import { parseTraceparent } from '../../src/telemetry/tracing/trace-context.ts'
import type { Span } from '../../src/telemetry/tracing/tracer.ts'
import { ApiWorld } from '../api/api-world.ts'
import { metricValue } from '../helpers/metric-value.ts'
import { TraceCollector } from '../helpers/trace-collector.ts'

const TRACE = 'a'.repeat(32)
const CALLER = 'b'.repeat(16)

t.test('traceparent is read as the recommendation says, and ignored when it is malformed', async (t) => {
  t.same(parseTraceparent(`00-${TRACE}-${CALLER}-01`), { traceId: TRACE, spanId: CALLER, isSampled: true })
  t.equal(parseTraceparent(`00-${TRACE}-${CALLER}-00`)?.isSampled, false)
  t.equal(parseTraceparent(`01-${TRACE}-${CALLER}-03-more`)?.isSampled, true, 'a later version')
  const zero = '0'.repeat(32)
  for (const bad of [
    undefined,
    '',
    `ff-${TRACE}-${CALLER}-01`,
    `00-${TRACE}-${CALLER}-01-more`,
    `00-${zero}-${CALLER}-01`,
    `00-${TRACE}-${zero.slice(16)}-01`,
    `00-${TRACE.toUpperCase()}-${CALLER}-01`,
  ])
    t.equal(parseTraceparent(bad), null, String(bad))
})

t.test('a request of a traced client', async (t) => {
  const collector = await TraceCollector.start(t)
  const { world, token } = await ApiWorld.withBucket(t)
  const { services } = world.memory
  const config = { ...services.config, tracing: { url: collector.url, sampledShare: 0 } }
  const tracing = openTracing(config, services.logger)
  if (tracing === null) throw new Error('tracing.url is given')
  const server = createDataServer(tracedServices(services, tracing), NO_METER)
  traceRequests(server, tracing.tracer)
  const url = await server.listen({ host: '127.0.0.1', port: 0 })
  const path = `${url}/api/v1/buckets/photos/objects/a`
  const ask = async (method: string, flags: string | null, target = path, body?: string): Promise<number> => {
    const headers = {
      authorization: `Bearer ${token}`,
      ...(flags === null ? {} : { traceparent: `00-${TRACE}-${CALLER}-${flags}` }),
    }
    const answer = await fetch(target, { method, headers, ...(body === undefined ? {} : { body }) })
    await answer.arrayBuffer()
    return answer.status
  }
  await ask('PUT', '01', path, 'x'.repeat(100_000))
  await ask('GET', '00')
  await ask('GET', null)
  t.equal(await ask('GET', '01', `${url}/readyz`), 200)
  await server.close()
  await tracing.close()

  const [request, ...others] = collector.named('putObject')
  t.same(others, [])
  t.match(request, { traceId: TRACE, parentSpanId: CALLER, kind: 2 })
  t.same(
    new Set(collector.spans.map(({ traceId }) => traceId)),
    new Set([TRACE]),
    'nothing else was traced: the flag of the client, the share, and probes',
  )
  t.equal(collector.named('getObject').length, 0)
  for (const name of ['authenticate', 'read barrier', 'store body', 'propose', 'answer']) {
    const [span] = collector.named(name)
    t.equal(span?.parentSpanId, request?.spanId, name)
    t.ok(BigInt(span?.startTimeUnixNano ?? 0) >= BigInt(request?.startTimeUnixNano ?? 0), name)
    t.ok(BigInt(span?.endTimeUnixNano ?? 0) <= BigInt(request?.endTimeUnixNano ?? 0) + 1_000_000n, name)
  }
  const attributes = new Map(request?.attributes.map(({ key, value }) => [key, value]))
  t.match(attributes.get('holdfast.tenant'), { stringValue: 'acme' })
  t.match(attributes.get('http.response.status_code'), { intValue: '200' })
  t.notMatch(JSON.stringify(collector.spans), 'objects/a', 'no span names a key')
  t.equal(metricValue(tracing.samples(), 'holdfast_tracing_exported_spans_total'), collector.spans.length)
})

t.test('without tracing.url the services are those without a tracer', async (t) => {
  const { services } = (await ApiWorld.withBucket(t)).world.memory
  t.equal(openTracing(services.config, services.logger), null)
  t.equal(tracedServices(services, null), services)
})

t.test(
  'a collector that refuses or is gone costs spans, which are counted, and one line of the log',
  async (t) => {
    const collector = await TraceCollector.start(t)
    const failures: string[] = []
    const exporter = new SpanExporter({
      url: collector.url,
      encode: () => '{"resourceSpans":[]}',
      onFailure: (why) => failures.push(why),
    })
    const span: Span = {
      traceId: TRACE,
      spanId: CALLER,
      parentId: null,
      name: 'x',
      isServer: true,
      startMs: 0,
      endMs: 1,
      attributes: {},
      error: null,
    }
    collector.statuses.push(503, 503)
    const dropped = (reason: string): number | undefined =>
      metricValue(exporter.samples(), 'holdfast_tracing_dropped_spans_total', { reason })
    // All at once: the first batch leaves, the queue fills behind it.
    for (let n = 0; n < 5000; n++) exporter.add(span)
    await exporter.close()
    t.equal(dropped('queue_full'), 5000 - 512 - 4096)
    t.equal(dropped('not_sent'), 2 * 512)
    t.equal(metricValue(exporter.samples(), 'holdfast_tracing_exported_spans_total'), 4096 + 512 - 2 * 512)
    t.same(failures, ['The collector answered 503'])
  },
)
