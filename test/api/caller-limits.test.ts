/** What proved callers of the data plane may ask for: refused beyond a rate, held back beyond bytes, and released however a request ends. */
import { once } from 'node:events'
import net from 'node:net'
import t, { type Test } from 'tap'
import { deferred, until } from '../helpers/async.ts'
import { NO_CALLER_LIMITS, patternBytes } from '../helpers/content-world.ts'
import { ApiWorld } from './api-world.ts'

const OBJECTS = '/api/v1/buckets/photos/objects/'
const MIB = 1024 * 1024

/** An upload whose body stops in the middle. */
async function startUpload(t: Test, world: ApiWorld, token: string): Promise<net.Socket> {
  const socket = net.connect(world.dataPort, '127.0.0.1')
  t.teardown(() => socket.destroy())
  socket.on('error', () => undefined)
  socket.write(
    `PUT ${OBJECTS}slow HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nContent-Length: 100\r\n\r\nhalf`,
  )
  const { tenants } = world.memory.limits
  const before = tenants.known('acme')?.running.uploads ?? 0
  await until('the upload runs', () => (tenants.known('acme')?.running.uploads ?? 0) > before)
  return socket
}

t.test(
  'requests beyond the rate are refused with 429, until the rate gives more [errors.rate_limited] [limits.callers.requests] [limits.callers.headers]',
  async (t) => {
    const tenant = { ...NO_CALLER_LIMITS, requestsPerSecond: 2, burstSeconds: 3 }
    const { world, token } = await ApiWorld.withBucket(t, { callers: { tenant } })
    let nowMs = performance.now() + 60_000
    world.memory.limitsNow = () => nowMs
    const ask = { path: '/api/v1/buckets', token }
    for (let left = 5; left >= 0; left--) {
      const { status, headers } = await world.call(ask)
      t.equal(status, 200)
      t.equal(headers['ratelimit-policy'], '"tenant";q=2;w=1;burst=6')
      t.equal(headers['ratelimit'], `"tenant";r=${left};t=1`)
    }
    const refused = await world.call(ask)
    t.match(refused, { status: 429, code: 'rate_limited', json: { gate: 'tenant_requests_per_second' } })
    t.equal(refused.headers['retry-after'], '1')
    t.equal(refused.headers['ratelimit'], '"tenant";r=0;t=1')
    t.match(world.memory.auditRows.at(-1), { tenantId: 'acme', status: 429, code: 'rate_limited' })
    await world.memory.tenant('other')
    const other = await world.memory.bearer('other')
    t.equal((await world.call({ ...ask, token: other })).status, 200, 'another tenant is not concerned')
    nowMs += 500
    t.equal((await world.call(ask)).status, 200)
    t.equal((await world.call(ask)).status, 429)
  },
)

t.test('each key and each address has a rate of its own [limits.callers.requests]', async (t) => {
  const accessKey = { ...NO_CALLER_LIMITS, requestsPerSecond: 1, burstSeconds: 2 }
  const address = { ...NO_CALLER_LIMITS, requestsPerSecond: 1, burstSeconds: 4 }
  const { world, token } = await ApiWorld.withBucket(t, { callers: { accessKey, address } })
  const nowMs = performance.now() + 60_000
  world.memory.limitsNow = () => nowMs
  const gates: unknown[] = []
  for (const bearer of [token, await world.memory.bearer('acme')])
    for (let n = 0; n < 3; n++) {
      const { status, json } = await world.call({ path: '/api/v1/buckets', token: bearer })
      gates.push(json['gate'] ?? status)
    }
  t.same(gates, [200, 200, 'key_requests_per_second', 200, 200, 'key_requests_per_second'])
  const third = await world.memory.bearer('acme')
  t.match(await world.call({ path: '/api/v1/buckets', token: third }), {
    json: { gate: 'address_requests_per_second' },
  })
  await world.memory.tenant('other')
  const other = await world.memory.bearer('other')
  const neighbour = await world.call({ path: '/api/v1/buckets', token: other })
  t.equal(neighbour.status, 200, 'another tenant behind the same proxy is not refused for it')
})

t.test(
  'uploads beyond the count wait for a moment and are refused, other requests are not [limits.callers.uploads]',
  async (t) => {
    const tenant = { ...NO_CALLER_LIMITS, uploadsAtOnce: 2 }
    const { world, token } = await ApiWorld.withBucket(t, { callers: { tenant, queueWaitMs: 20 } })
    const first = await startUpload(t, world, token)
    await startUpload(t, world, token)
    const put = { method: 'PUT', path: `${OBJECTS}c`, token, body: 'c' }
    const refused = await world.call(put)
    t.match(refused, { status: 429, code: 'rate_limited', json: { gate: 'tenant_uploads_at_once' } })
    t.match(refused.headers['retry-after'], /^[1-9]\d*$/)
    t.equal((await world.call({ path: `${OBJECTS}c`, token })).status, 404)
    first.destroy()
    await until('the upload ended', () => world.memory.limits.tenants.known('acme')?.running.uploads === 1)
    t.equal((await world.call(put)).status, 200)
  },
)

t.test('a request that waits is served when another of its tenant ends', async (t) => {
  const tenant = { ...NO_CALLER_LIMITS, uploadsAtOnce: 1 }
  const { world, token } = await ApiWorld.withBucket(t, { callers: { tenant, queueWaitMs: 60_000 } })
  const slow = await startUpload(t, world, token)
  const waiting = world.call({ method: 'PUT', path: `${OBJECTS}c`, token, body: 'c' })
  await until('it waits', () => world.memory.limits.turns.waiting === 1)
  slow.destroy()
  t.equal((await waiting).status, 200)
})

t.test('a client that leaves while it waits is forgotten', async (t) => {
  const tenant = { ...NO_CALLER_LIMITS, uploadsAtOnce: 1 }
  const { world, token } = await ApiWorld.withBucket(t, { callers: { tenant, queueWaitMs: 60_000 } })
  const slow = await startUpload(t, world, token)
  const socket = net.connect(world.dataPort, '127.0.0.1')
  socket.write(
    `PUT ${OBJECTS}k HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nContent-Length: 1\r\n\r\n`,
  )
  await until('it waits', () => world.memory.limits.turns.waiting === 1)
  socket.destroy()
  await until('it is forgotten', () => world.memory.limits.turns.waiting === 0)
  slow.destroy()
})

t.test('whatever ends a request gives back what it held', async (t) => {
  const { world, token } = await ApiWorld.withBucket(t)
  const { limits } = world.memory
  const isQuiet = (): boolean =>
    limits.turns.working === 0 && (limits.tenants.known('acme')?.running.requests ?? 0) === 0
  const big = patternBytes(3 * MIB)
  t.equal((await world.call({ method: 'PUT', path: `${OBJECTS}big`, token, body: big })).status, 200)
  await until('a success', isQuiet)
  await world.call({ path: `${OBJECTS}absent`, token })
  await world.call({ path: '/api/v1/buckets?bad=1', token })
  await world.call({ method: 'PUT', path: `${OBJECTS}%00`, token, body: 'x' })
  await world.call({ method: 'POST', path: '/api/v1/buckets', token, body: '{' })
  await until('refusals', isQuiet)
  ;(await startUpload(t, world, token)).destroy()
  await until('an upload that was broken off', isQuiet)
  const reader = net.connect(world.dataPort, '127.0.0.1')
  reader.write(`GET ${OBJECTS}big HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n\r\n`)
  await once(reader, 'data')
  reader.destroy()
  await until('a download that was broken off', isQuiet)
  const pipelined = `GET /api/v1/buckets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n`
  await world.raw(`${pipelined}\r\n${pipelined}\r\n${pipelined}Connection: close\r\n\r\n`)
  await until('requests of a pipeline', isQuiet)
  world.memory.proposeFault = new Error('broken')
  await world.call({ method: 'POST', path: '/api/v1/buckets', token, body: { name: 'other' } })
  world.memory.proposeFault = null
  await until('an internal error', isQuiet)
  t.equal(limits.turns.waiting, 0)
})

t.test('bytes beyond the rate are held back and arrive whole [limits.callers.bytes]', async (t) => {
  const tenant = {
    ...NO_CALLER_LIMITS,
    bytesInPerSecond: 16 * MIB,
    bytesOutPerSecond: 16 * MIB,
    burstSeconds: 0.25,
  }
  const { world, token } = await ApiWorld.withBucket(t, { callers: { tenant } })
  const nowMs = performance.now() + 60_000
  world.memory.limitsNow = () => nowMs
  const { delays } = world.memory.limits
  const body = patternBytes(4.5 * MIB)
  t.equal((await world.call({ method: 'PUT', path: `${OBJECTS}k`, token, body })).status, 200)
  t.ok(delays.inSeconds > 0, 'the upload was held back')
  const { bytes } = await world.call({ path: `${OBJECTS}k`, token })
  t.ok(bytes.equals(body))
  t.ok(delays.outSeconds > 0, 'the download was held back')
})

t.test('the time in which bytes are held back is not that of their client', async (t) => {
  const tenant = { ...NO_CALLER_LIMITS, bytesInPerSecond: 16 * MIB, burstSeconds: 0.25 }
  const { world, token } = await ApiWorld.withBucket(t, { callers: { tenant } })
  const nowMs = performance.now() + 60_000
  world.memory.limitsNow = () => nowMs
  const { content, limits } = world.memory
  const ingest = content.ingest.bind(content)
  const heldMs: number[] = []
  content.ingest = async (request) => {
    const body = await ingest(request)
    heldMs.push(request.source.heldMs?.() ?? 0)
    return body
  }
  const body = patternBytes(4.5 * MIB)
  t.equal((await world.call({ method: 'PUT', path: `${OBJECTS}k`, token, body })).status, 200)
  t.equal(heldMs.length, 1)
  // Timers count whole milliseconds.
  t.ok((heldMs[0] ?? 0) >= 900 * limits.delays.inSeconds, `${heldMs[0]} ms`)
  t.ok(limits.delays.inSeconds > 0)
})

t.test(
  'a tenant whose requests hang does not hold the requests of another up [limits.callers.apart]',
  async (t) => {
    const { world, token } = await ApiWorld.withBucket(t, { callers: { workAtOnce: 4 } })
    const { memory } = world
    await memory.tenant('victim')
    const victim = await memory.bearer('victim')
    const mayApply = deferred()
    memory.beforeApply = () => mayApply.promise
    const hanging = Array.from({ length: 40 }, (_, n) =>
      world.call({ method: 'PUT', path: `${OBJECTS}k${n}`, token, body: 'x' }),
    )
    await until('they wait', () => memory.limits.turns.waiting > 0)
    t.equal((await world.call({ path: '/api/v1/buckets', token: victim })).status, 200)
    mayApply.resolve()
    for (const { status } of await Promise.all(hanging)) t.equal(status, 200)
  },
)

t.test(
  'a change of a tenant goes before most that another has asked for already [limits.callers.apart]',
  async (t) => {
    const { world, token } = await ApiWorld.withBucket(t, { callers: { workAtOnce: 64 } })
    const { memory } = world
    const nowMs = performance.now() + 60_000
    memory.limitsNow = () => nowMs
    await memory.tenant('victim')
    const victim = await memory.bearer('victim')
    t.equal((await world.call({ path: '/api/v1/buckets', token: victim })).status, 200)
    const mayApply = deferred()
    memory.beforeApply = () => mayApply.promise
    const others = Array.from({ length: 40 }, (_, n) =>
      world.call({ method: 'PUT', path: `${OBJECTS}k${n}`, token, body: 'x' }),
    )
    await until('they wait for the log', () => memory.limits.proposals.waiting === 36)
    const before = memory.proposals
    const made = world.call({
      method: 'POST',
      path: '/api/v1/buckets',
      token: victim,
      body: { name: 'album' },
    })
    await until('the other proposes', () => memory.limits.tenants.known('victim')?.running.requests === 1)
    mayApply.resolve()
    t.equal((await made).status, 201)
    t.ok(memory.proposals - before < 20, `${memory.proposals - before} were applied`)
    for (const { status } of await Promise.all(others)) t.equal(status, 200)
  },
)

t.test('pieces of downloads are read in turns while another tenant asks', async (t) => {
  const { world, token } = await ApiWorld.withBucket(t, { callers: { workAtOnce: 64 } })
  const { memory } = world
  const nowMs = performance.now() + 60_000
  memory.limitsNow = () => nowMs
  const body = patternBytes(2 * MIB)
  t.equal((await world.call({ method: 'PUT', path: `${OBJECTS}k`, token, body })).status, 200)
  await memory.tenant('victim')
  const victim = await memory.bearer('victim')
  const read = memory.content.read.bind(memory.content)
  const mayRead = deferred()
  let reading = 0
  memory.content.read = (...about) =>
    (async function* () {
      reading += 1
      await mayRead.promise
      yield* read(...about)
    })()
  t.equal((await world.call({ path: '/api/v1/buckets', token: victim })).status, 200)
  const downloads = Array.from({ length: 20 }, () => world.call({ path: `${OBJECTS}k`, token }))
  await until('the others wait', () => memory.limits.reads.waiting === 16)
  t.equal(reading, 4)
  mayRead.resolve()
  for (const { bytes } of await Promise.all(downloads)) t.ok(bytes.equals(body))
})
