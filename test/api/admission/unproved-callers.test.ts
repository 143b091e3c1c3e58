/**
 * Clients that have proved nothing: how often they may ask, how large and slow their bodies may be, and that no one else notices.
 */
import { once } from 'node:events'
import net from 'node:net'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { AddressBuckets } from '../../../src/api/admission/address-buckets.ts'
import { UnprovedCallers } from '../../../src/api/admission/unproved-callers.ts'
import { PLAIN_EDGE } from '../../../src/api/edge.ts'
import { NO_METER } from '../../../src/api/request-log.ts'
import { createDataServer } from '../../../src/api/server/data-server.ts'
import { until } from '../../helpers/async.ts'
import { MemoryServices } from '../../helpers/memory-services.ts'
import { ApiWorld, type Ask } from '../api-world.ts'

const BURST = 5
/** One a minute: however slow this machine is, none comes back during a test. */
const LIMITS = { unprovedRequestsPerMinute: 1, unprovedBurst: BURST }
const BEHIND_PROXY = { limits: LIMITS, trustedProxies: ['127.0.0.1'] }
const from = (address: string) => ({ 'x-forwarded-for': address })
const HERE = from('198.51.100.7')

/** Uses up what the address has; the last answer. */
async function flood(world: ApiWorld, address = '198.51.100.7', count = BURST + 1) {
  const ask = { path: '/api/v1/buckets', headers: { ...from(address), authorization: 'Bearer wrong' } }
  for (let n = 1; n < count; n += 1) await world.call(ask)
  return world.call(ask)
}

async function start(t: Test, limits: object = {}) {
  const world = await ApiWorld.start(t, { ...BEHIND_PROXY, limits: { ...LIMITS, ...limits } })
  await world.memory.tenant('acme')
  const key = await world.memory.accessKey('acme', 'read,write')
  const exchange = (address: string, secretKey = key.secretKey, accessKeyId = key.accessKeyId) =>
    world.call({
      method: 'POST',
      path: '/api/v1/auth/token',
      headers: from(address),
      body: { accessKeyId, secretKey },
    })
  return { world, key, exchange, token: await world.memory.bearer('acme') }
}

t.test('requests that prove nothing are limited by address [errors.rate_limited]', async (t) => {
  const { world } = await start(t)
  const refused = await flood(world)
  t.match(refused, { status: 429, code: 'rate_limited' })
  t.match(refused.headers, {
    'retry-after': /^(60|[1-5]?\d)$/,
    'ratelimit-policy': '"unproved";q=1;w=60;burst=5',
  })
  const asks = {
    'no token': { path: '/api/v1/buckets' },
    'an unknown path': { path: '/api/v1/nothing' },
    'a path below /signed/': { path: '/api/v1/signed/nothing/a/b?token=x' },
    'a signed URL': { path: '/api/v1/signed/photos/a?token=x' },
    'the document': { path: '/api/v1/openapi.json' },
  }
  for (const [name, ask] of Object.entries(asks)) {
    t.equal((await world.send({ ...ask, headers: HERE })).status, 429, name)
    t.not((await world.send({ ...ask, headers: from('203.0.113.9') })).status, 429, `${name} from elsewhere`)
  }
})

t.test('a flood refuses no caller that proves itself, not even from its own address', async (t) => {
  const { world, token, exchange } = await start(t)
  t.equal((await flood(world, '198.51.100.7', 5 * BURST)).status, 429)
  for (let n = 0; n < 3 * BURST; n += 1)
    t.equal((await world.call({ path: '/api/v1/buckets', token, headers: HERE })).status, 200)
  t.equal((await exchange('198.51.100.7')).status, 200, 'a right secret')
  t.equal(
    (await world.call({ path: '/api/v1/nothing', token, headers: HERE })).status,
    404,
    'and a 404 of its own',
  )
})

t.test(
  'what no credential of this cluster comes with makes the cluster do nothing, at any rate',
  async (t) => {
    const { world, token, exchange, key } = await start(t, {
      unprovedBurst: 50,
      unprovedRequestsPerMinute: 1,
    })
    const { memory } = world
    const admin = await memory.adminToken('owner')
    const temporary = await world.call({
      method: 'POST',
      path: '/api/v1/auth/temporary',
      token,
      body: { sessionName: 'ci', ttlSeconds: 1 },
    })
    await world.call({ method: 'POST', path: '/api/v1/buckets', token, body: { name: 'photos' } })
    const link = await world.call({
      method: 'POST',
      path: '/api/v1/sign-url',
      token,
      body: { method: 'GET', bucket: 'photos', key: 'a' },
    })
    const { pathname, search } = new URL(String(link.json['url']))
    memory.now += 1_000
    const buckets = '/api/v1/buckets'
    const tenants = '/admin/api/v1/tenants'
    const changed = (text: string): string => text.slice(0, -3) + (text.endsWith('AAA') ? 'BBB' : 'AAA')
    const exchangeWith = (more: object) => ({ method: 'POST', path: '/api/v1/auth/token', ...more })
    const asks: Record<string, Ask> = {
      none: { path: buckets },
      'no bearer token': { path: buckets, headers: { authorization: 'Basic eDp5' } },
      'no token of ours': { path: buckets, token: 'x' },
      'a changed token': { path: buckets, token: changed(token) },
      'a temporary credential that has ended': { path: buckets, token: String(temporary.json['token']) },
      'a token of the other plane': { path: buckets, token: admin },
      'an unknown path': { path: '/api/v1/nothing', token: changed(token) },
      'none for the admin plane': { admin: true, path: tenants },
      'no admin token': { admin: true, path: tenants, token },
      'a changed signed URL': { path: pathname + changed(search) },
      'no credentials': exchangeWith({}),
      'half of the credentials': exchangeWith({ body: { accessKeyId: key.accessKeyId } }),
      'Basic without a colon': exchangeWith({ headers: { authorization: 'Basic eA==' } }),
    }
    const askAll = async (expected: number): Promise<void> => {
      for (const [name, { headers, ...ask }] of Object.entries(asks)) {
        const { barriers } = memory
        const { status } = await world.send({ ...ask, headers: { ...headers, ...HERE } })
        // The listeners of this world count apart.
        t.equal(status, ask.admin === true ? 401 : expected, name)
        t.equal(memory.barriers - barriers, 0, name)
      }
    }
    await askAll(401)
    await flood(world, '198.51.100.7', 51)
    await askAll(429)
    const { barriers } = memory
    t.equal((await exchange('198.51.100.7')).status, 200)
    t.equal((await world.call({ path: buckets, token, headers: HERE })).status, 200)
    t.equal(memory.barriers - barriers, 2, 'and those that come with one are asked about')
  },
)

t.test('a probe is answered at any rate', async (t) => {
  const { world } = await start(t)
  await flood(world)
  for (let n = 0; n < 3 * BURST; n += 1) {
    t.equal((await world.call({ path: '/healthz', headers: HERE })).status, 200)
    t.equal((await world.call({ path: '/readyz', headers: HERE })).status, 200)
  }
})

t.test('a known and an unknown key are answered alike in every state of both limits', async (t) => {
  const limits = { tokenMintPerMinute: 60, tokenMintBurst: 2, unprovedBurst: 7 }
  const { exchange, world } = await start(t, limits)
  const comparable = ({ status, json, headers }: Awaited<ReturnType<typeof exchange>>): unknown => {
    const { 'x-request-id': _id, date: _date, ...others } = headers
    return { status, json: { ...json, requestId: '' }, headers: { ...others, 'content-length': '' } }
  }
  const codes = new Set<unknown>()
  // Two addresses in the same state: one is asked about the known key, the other about an unknown one.
  for (let n = 0; n < 12; n += 1) {
    const known = await exchange('203.0.113.1', 'x')
    const unknown = await exchange('203.0.113.2', 'x', 'AKAAAAAAAAAAAAAAAAAA')
    t.same(comparable(unknown), comparable(known), `state ${n}`)
    codes.add(known.code)
    if (n === 5) await Promise.all([flood(world, '203.0.113.1', 9), flood(world, '203.0.113.2', 9)])
  }
  t.same(codes, new Set(['invalid_credentials', 'rate_limited']))
})

t.test(
  'credentials of more than 4 KiB are refused before they are read [errors.entity_too_large]',
  async (t) => {
    const { world } = await start(t)
    const head = 'POST /api/v1/auth/token HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n'
    t.match(await world.raw(`${head}Connection: close\r\nContent-Length: 4097\r\n\r\n`), /^HTTP\/1\.1 413 /)
    const piece = `1000\r\n${' '.repeat(4096)}\r\n`
    t.match(
      await world.raw(
        `${head}Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n${piece}${piece}0\r\n\r\n`,
      ),
      /^HTTP\/1\.1 413 /,
    )
  },
)

t.test(
  'credentials that take more than ten seconds are not waited for [errors.request_timeout]',
  async (t) => {
    const memory = await MemoryServices.start(t)
    const due: { ms: number; callback: () => void }[] = []
    const clock = {
      wallTime: () => Date.now(),
      after(ms: number, callback: () => void) {
        due.push({ ms, callback })
        return { cancel: () => undefined }
      },
    }
    const server = createDataServer(memory.services, NO_METER, { ...PLAIN_EDGE, clock })
    t.teardown(() => server.close())
    await server.listen({ host: '127.0.0.1', port: 0 })
    const socket = net.connect((server.server.address() as net.AddressInfo).port, '127.0.0.1')
    socket.write(
      'POST /api/v1/auth/token HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 90\r\n\r\n{',
    )
    await until('the body is waited for', () => due.length > 0)
    t.equal(due[0]?.ms, 10_000)
    due[0]?.callback()
    t.match(
      String((await once(socket, 'data'))[0]),
      /^HTTP\/1\.1 408 [^]*connection: close[^]*"request_timeout"/i,
    )
    socket.destroy()
  },
)

t.test(
  'arriving credentials hold bounded memory, and known callers do not feel it [errors.slow_down]',
  async (t) => {
    const { world, token, exchange } = await start(t, { unprovedBodyBytesMax: 65_536 })
    const head = `POST /api/v1/auth/token HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 4096\r\n`
    const sockets: net.Socket[] = []
    t.teardown(() => sockets.forEach((socket) => socket.destroy()))
    const open = async (address: string): Promise<net.Socket> => {
      const socket = net.connect(world.dataPort, '127.0.0.1')
      sockets.push(socket)
      socket.write(`${head}X-Forwarded-For: ${address}\r\nExpect: 100-continue\r\n\r\n`)
      return socket
    }
    const answers: string[] = []
    for (let n = 0; n < 9 * 2; n += 1) {
      const socket = await open(`203.0.113.${Math.floor(n / 2)}`)
      answers.push(String((await once(socket, 'data'))[0]).slice(0, 12))
    }
    t.same(answers.slice(0, 16), Array(16).fill('HTTP/1.1 100'), 'eight addresses with an eighth each')
    t.same(answers.slice(16), Array(2).fill('HTTP/1.1 503'))
    t.match(await exchange('203.0.113.200'), { status: 503, code: 'slow_down' })
    t.equal((await world.call({ path: '/api/v1/buckets', token })).status, 200)
    for (const socket of sockets) socket.destroy()
    await until('their memory is free again', async () => (await exchange('203.0.113.200')).status === 200)
  },
)

t.test('one address holds an eighth of that memory', async (t) => {
  const unproved = new UnprovedCallers({ ...LIMITS, unprovedBodyBytesMax: 65_536 }, () => 0)
  const releases = [unproved.holdBody('2001:db8::1', 4096), unproved.holdBody('2001:db8::2', 4096)]
  t.throws(() => unproved.holdBody('2001:db8::3', 1), { code: 'slow_down' })
  t.ok(unproved.holdBody('2001:db8:0:1::1', 4096), 'another network')
  for (const release of [...releases, ...releases]) release()
  t.equal(unproved.samples().find(({ name }) => name === 'holdfast_admission_body_bytes')?.value, 4096)
})

t.test('AddressBuckets', async (t) => {
  const limits = { perMinute: 60, burst: 2, addressesMax: 3 }

  t.test('gives an address that was seen a proof of its own bucket, whatever others invent', async (t) => {
    const buckets = new AddressBuckets(limits)
    buckets.proved('home', 0)
    for (let n = 0; n < 1000; n += 1) buckets.take(`invented ${n}`, 0)
    t.equal(buckets.take('home', 0), null)
    t.ok(buckets.size <= 6)
  })

  t.test('resets no bucket by a flood of invented addresses', async (t) => {
    const buckets = new AddressBuckets(limits)
    for (let n = 0; n < 3; n += 1) buckets.take('attacker', 0)
    t.not(buckets.take('attacker', 0), null)
    for (let n = 0; n < 1000; n += 1) buckets.take(`invented ${n}`, 0)
    t.not(buckets.take('attacker', 0), null)
    t.equal(buckets.take('attacker', 1000), null, 'but by time')
  })

  t.test('forgets only full buckets, and makes room by time', async (t) => {
    const buckets = new AddressBuckets(limits)
    for (const address of ['a', 'b', 'c', 'd', 'd', 'e']) buckets.take(address, 0)
    t.not(buckets.take('f', 0), null, 'd and e have used up what is shared')
    t.equal(buckets.take('g', 1000), null, 'a is full again')
  })

  t.test('never allows one address more than the rate and the burst, whatever the others do', async () => {
    const step = fc.record({
      who: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
      ms: fc.nat(400),
      isProof: fc.boolean(),
    })
    const property = fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const buckets = new AddressBuckets({ ...limits, addressesMax: 10 })
      let now = 0
      let allowed = 0
      for (const { who, ms, isProof } of steps) {
        now += ms
        if (isProof) buckets.proved(who, now)
        else if (buckets.take(who, now) === null && who === 'a') allowed += 1
      }
      return allowed <= 2 + now / 1000
    })
    fc.assert(property, { numRuns: 200, seed: 18 })
  })
})
