/** Histograms as they are counted, rendered and served, and figures of tenants and buckets. */
import t from 'tap'
import { histogram, LATENCY_BOUNDS, LatencyHistogram } from '../../cluster/index.ts'
import { CommitTimes } from '../../cluster/node/proposals/commit-times.ts'
import { usageSamples } from '../../src/operations/tenants/usage-samples.ts'
import { renderSamples } from '../../src/telemetry/metrics.ts'
import type { RequestObservation } from '../../src/telemetry/metrics.ts'
import { createDataServer } from '../../src/api/server/data-server.ts'
import { ApiWorld } from '../api/api-world.ts'
import { VirtualClock } from '../programs/simulator/virtual-clock.ts'

t.test('an observation counts in the first bucket that holds it', async (t) => {
  const times = new LatencyHistogram()
  for (const seconds of [0, 0.0001, 0.00011, 10, 11]) times.observe(seconds)
  const { counts, sum } = times.figures()
  t.equal(counts.length, LATENCY_BOUNDS.length + 1)
  t.same([counts[0], counts[1], counts.at(-2), counts.at(-1)], [2, 1, 1, 1])
  t.ok(Math.abs(sum - 21.00021) < 1e-9)
})

t.test('a histogram is rendered with rising buckets, sum and count, and its labels', async (t) => {
  const latency = { counts: [1, 0, 2, ...LATENCY_BOUNDS.slice(2).map(() => 0)], sum: 0.5 }
  const text = renderSamples([histogram('x_seconds', 'Time', latency, { peer: 'n2' })])
  for (const line of [
    '# TYPE x_seconds histogram',
    'x_seconds_bucket{peer="n2",le="0.0001"} 1',
    'x_seconds_bucket{peer="n2",le="0.00025"} 1',
    'x_seconds_bucket{peer="n2",le="0.0005"} 3',
    'x_seconds_bucket{peer="n2",le="+Inf"} 3',
    'x_seconds_sum{peer="n2"} 0.5',
    'x_seconds_count{peer="n2"} 3',
  ])
    t.ok(text.split('\n').includes(line), line)
})

t.test(
  'entries are measured from their append until their commit, and forgotten with the leadership',
  async (t) => {
    const clock = new VirtualClock()
    const times = new CommitTimes(clock)
    times.onAccepted(7)
    times.onAccepted(8)
    await clock.advance(2)
    times.onCommitted(7)
    t.same(times.figures().sum, 0.002)
    times.onLeadershipLost()
    times.onCommitted(8)
    t.equal(
      times.figures().counts.reduce((sum, count) => sum + count, 0),
      1,
    )
    for (let index = 10; index < 1000; index++) times.onAccepted(index)
    times.onCommitted(1000)
    t.equal(
      times.figures().counts.reduce((sum, count) => sum + count, 0),
      1 + 256,
      'more are not kept',
    )
  },
)

t.test('what tenants and buckets store is named only where it is asked for', async (t) => {
  const { world } = await ApiWorld.withBucket(t)
  const { state } = world.memory.services
  const shown = async (perTenant: boolean, perBucket: boolean) =>
    renderSamples(await usageSamples(state, { perTenant, perBucket }))
  t.equal(await shown(false, false), '')
  const tenants = await shown(true, false)
  t.match(tenants, 'holdfast_tenant_stored_bytes{tenant="acme"} 0')
  t.notMatch(tenants, 'bucket=')
  t.match(await shown(false, true), 'holdfast_bucket_objects{tenant="acme",bucket="photos"} 0')
})

t.test('the time to the first byte is a part of the time of the request', async (t) => {
  const { world, token } = await ApiWorld.withBucket(t)
  const seen: RequestObservation[] = []
  const meter = {
    requestStarted: () => undefined,
    requestFinished: (observation: RequestObservation) => void seen.push(observation),
  }
  const server = createDataServer(world.memory.services, meter)
  t.teardown(() => server.close())
  const url = await server.listen({ host: '127.0.0.1', port: 0 })
  const headers = { authorization: `Bearer ${token}` }
  const path = `${url}/api/v1/buckets/photos/objects/a`
  // Each read of the clock advances it by less than the one before, so a second start time of a request shows.
  let [reads, time] = [0, 0]
  t.intercept(performance, 'now', { value: () => (time += 1_000 / (++reads) ** 2) })
  await fetch(path, { method: 'PUT', headers, body: 'a'.repeat(100_000) })
  for (const method of ['GET', 'HEAD', 'DELETE']) await (await fetch(path, { method, headers })).arrayBuffer()
  await (await fetch(`${url}/nothing`)).arrayBuffer()
  await server.close()
  t.same(
    seen.map(({ operation }) => operation),
    ['putObject', 'getObject', 'headObject', 'deleteObject', 'unknown'],
  )
  for (const { operation, firstByteSeconds, seconds } of seen) {
    t.type(firstByteSeconds, 'number', operation)
    t.ok((firstByteSeconds ?? -1) >= 0 && (firstByteSeconds ?? 0) <= seconds, operation)
  }
})
