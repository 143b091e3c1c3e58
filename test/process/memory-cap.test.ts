/**
 * A real node whose memory is in use: it refuses uploads with 503 instead of ending, answers what must be answered, and serves all again
 * when the memory is free.
 */
import { Readable } from 'node:stream'
import t from 'tap'
import { until } from '../helpers/async.ts'
import { type Answer, ProcessCluster } from '../helpers/process-cluster.ts'

const MIB = 1024 * 1024
/** A chunk has 4 MiB: so much of one stays in memory until the rest has come. */
const HELD = Buffer.alloc(3 * MIB, 'x')
const UPLOADS_MAX = 200
/** Heap and buffers of a node without requests take some 55 MiB, and the sources of its tests some more. */
const SETTINGS = `
limits: { memory: 192MiB, upload_memory: 1GiB, contended_bytes_per_second: 0 }
metrics: { public: true }
`

t.test('a node at limits.memory', { timeout: 1_800_000 }, async (t) => {
  const cluster = await ProcessCluster.start(t, 1, SETTINGS)
  await cluster.login('n1')
  t.equal((await cluster.call('n1', 'POST', '/buckets', '{"name":"photos"}')).status, 201)
  const put = (key: string, body: Readable | Buffer, signal: AbortSignal): Promise<Answer> =>
    cluster.ask('n1', { method: 'PUT', path: `/buckets/photos/objects/${key}`, body, signal })
  const ended = new AbortController()
  t.teardown(() => ended.abort())
  /** Sends less than a chunk, and waits. */
  const begin = (n: number): Promise<Answer | null> => {
    const halted = (async function* () {
      yield HELD
      await new Promise((resolve) => ended.signal.addEventListener('abort', resolve))
    })()
    return put(`held-${n}`, Readable.from(halted, { objectMode: false }), ended.signal).catch(() => null)
  }
  let refused: Answer | null = null
  let started = 0
  // A collection may free memory behind a refusal: then more uploads take it again.
  await until('an upload is refused, and the metrics show why', async () => {
    if (started < UPLOADS_MAX) void begin(started++).then((answer) => (refused ??= answer))
    const level = (await cluster.metric('n1', 'holdfast_limits_memory_level')) ?? 0
    return refused !== null && level >= 1
  })
  const { status, headers, body } = refused ?? (await begin(0)) ?? { status: 0, headers: {}, body: '' }
  t.equal(status, 503)
  t.match(JSON.parse(String(body)), { code: 'slow_down', detail: /memory of this node/ })
  t.match(headers, { 'retry-after': '1' })
  t.ok(await cluster.ready('n1'), 'health checks are answered')
  t.ok(cluster.isRunning('n1'))
  ended.abort()
  const more = new AbortController()
  await until('uploads are served again', async () => {
    return (await put('after', Buffer.from('small'), more.signal)).status === 200
  })
  t.equal((await cluster.call('n1', 'GET', '/buckets/photos/objects/after')).status, 200)
})
