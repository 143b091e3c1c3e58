/**
 * Callers of the S3 API that end while the body of a change is in flight, or ask for more than they may: by every action of the route table.
 */
import { once } from 'node:events'
import net from 'node:net'
import t from 'tap'
import { until } from '../../helpers/async.ts'
import { NO_CALLER_LIMITS } from '../../helpers/content-world.ts'
import type { MadeKey } from '../../helpers/memory-services.ts'
import { revoke, rotate } from '../issued-keys.ts'
import { PLACE, S3_ROUTES, type Sample, sampleOf } from './s3-samples.ts'
import { S3World } from './s3-world.ts'

const BUCKET = '/api/v1/buckets/photos'

/** Sends half of a body, runs `between` once the server has proved the caller, and sends the rest. */
async function held(s3: S3World, sample: Sample, secret: MadeKey, between: () => Promise<unknown>) {
  const { memory, dataPort } = s3.world
  const { arrivals } = memory
  const { method, path, headers = {} } = s3.signed({ ...sample, secret })
  const body = String(sample.body)
  const half = Math.floor(body.length / 2)
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${String(value)}\r\n`)
  const socket = net.connect(dataPort, '127.0.0.1')
  socket.write(
    `${method} ${path} HTTP/1.1\r\n${lines.join('')}Connection: close\r\nContent-Length: ${body.length}\r\n\r\n${body.slice(0, half)}`,
  )
  await until('the caller is proved', () => memory.arrivals > arrivals)
  await between()
  let answer = ''
  socket.on('data', (piece: Buffer) => (answer += piece.toString('latin1')))
  socket.write(body.slice(half))
  await once(socket, 'close')
  return { status: Number(answer.slice(9, 12)), code: /<Code>(\w+)</.exec(answer)?.[1] ?? null }
}

async function stored({ world, token }: S3World): Promise<string> {
  const seen = await Promise.all(
    ['', '/versions', '/multipart', '/cors', '/versioning'].map((path) =>
      world.send({ path: `${BUCKET}${path}`, token }),
    ),
  )
  return JSON.stringify(seen.map(({ json: { requestId: _id, ...json } }) => json))
}

t.test('a key that ends while half of a body was sent changes nothing, by any action', async (t) => {
  const s3 = await S3World.start(t)
  const { memory } = s3.world
  const changes = S3_ROUTES.filter(({ body, method }) => body.kind !== 'none' && method !== 'GET')
  let refused = 0
  for (const route of changes) {
    await s3.call({ method: 'PUT', path: `/photos/${PLACE.key}`, body: 'a cat' })
    const sample = sampleOf(route)
    for (const end of [rotate, revoke]) {
      let before = ''
      const fresh = await memory.accessKey('acme', 'read,write,delete,admin')
      const answer = await held(s3, sample, fresh, async () => {
        await end(memory, { accessKeyId: fresh.accessKeyId, tenantId: 'acme', token: '' })
        before = await stored(s3)
      })
      t.ok(
        answer.status >= 400 || route.body.kind === 'xml',
        `${route.action}: ${answer.status} ${answer.code}`,
      )
      t.equal(await stored(s3), before, `${route.action} has changed nothing`)
      if (answer.code === 'AccessDenied') refused += 1
    }
  }
  t.ok(refused >= 6, `${refused} were refused for their key alone`)
})

t.test('a caller beyond its rate is refused by every action, and asked to come again', async (t) => {
  const tenant = { ...NO_CALLER_LIMITS, requestsPerSecond: 1, burstSeconds: 1 }
  const s3 = await S3World.start(t, { callers: { tenant } })
  const { memory } = s3.world
  const nowMs = performance.now() + 60_000
  memory.limitsNow = () => nowMs
  t.equal((await s3.call({ path: '/' })).status, 200)
  for (const route of S3_ROUTES) {
    const answer = await s3.call(sampleOf(route))
    t.match(answer, { status: 503, headers: { 'retry-after': '1' } }, route.action)
    if (route.method !== 'HEAD') t.equal(answer.s3Code, 'SlowDown', route.action)
    t.match(memory.auditRows.at(-1), { api: 's3', code: 'rate_limited', operation: route.operation.id })
  }
})
