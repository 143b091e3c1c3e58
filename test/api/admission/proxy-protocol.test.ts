/**
 * Connections with a header of the PROXY protocol: from trusted proxies it is required, from others it is no request. [PROXY protocol 2.2]
 */
import { once } from 'node:events'
import net, { type AddressInfo } from 'node:net'
import { connect as connectTls } from 'node:tls'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { readProxyHeader } from '../../../src/api/admission/proxy-header.ts'
import { PLAIN_EDGE } from '../../../src/api/edge.ts'
import { ListenerTls } from '../../../src/api/listener-tls.ts'
import { NO_METER } from '../../../src/api/request-log.ts'
import { createDataServer } from '../../../src/api/server/data-server.ts'
import { MemoryServices } from '../../helpers/memory-services.ts'
import { onEdges } from '../../helpers/on-edges.ts'
import { MadeCertificates } from '../../transport/made-certificates.ts'
import { ApiWorld } from '../api-world.ts'

const SIGNATURE = Buffer.from('0d0a0d0a000d0a515549540a', 'hex')

interface Fields {
  readonly command?: number
  readonly family?: number
  readonly rest?: Buffer
  readonly announced?: number
}

function header({
  command = 0x21,
  family = 0x11,
  rest = IPV4,
  announced = rest.length,
}: Fields = {}): Buffer {
  const fixed = Buffer.from([command, family, announced >> 8, announced & 0xff])
  return Buffer.concat([SIGNATURE, fixed, rest])
}

/** 198.51.100.7:4711 to 127.0.0.1:9000 */
const IPV4 = Buffer.from('c6336407' + '7f000001' + '1267' + '2328', 'hex')
const IPV6 = Buffer.from(`20010db8000200000000000000000007${'0'.repeat(31)}1${'1267'}${'2328'}`, 'hex')
const REQUEST = 'GET /api/v1/buckets HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'

const refused = (answer: string): boolean => answer === ''

async function behindProxy(t: Test): Promise<ApiWorld> {
  return ApiWorld.start(t, { trustedProxies: ['127.0.0.1'], proxyProtocol: true })
}

/** The address in the only row of the audit log. */
async function seen(world: ApiWorld, sent: Buffer | string): Promise<unknown> {
  world.memory.auditRows.length = 0
  t.match(await world.raw(Buffer.from(sent)), /^HTTP\/1\.1 401 /)
  return world.memory.auditRows.at(-1)?.sourceIp
}

const withRequest = (head: Buffer, request = REQUEST): Buffer => Buffer.concat([head, Buffer.from(request)])

t.test('the address of the header is the address of the client', async (t) => {
  const world = await behindProxy(t)
  t.equal(await seen(world, withRequest(header())), '198.51.100.7')
  t.equal(await seen(world, withRequest(header({ family: 0x21, rest: IPV6 }))), '2001:db8:2::7')
  const fields = Buffer.concat([IPV4, Buffer.from('0400040000000000', 'hex')])
  t.equal(await seen(world, withRequest(header({ rest: fields }))), '198.51.100.7', 'with further fields')
  t.equal(await seen(world, withRequest(header({ command: 0x20 }))), '127.0.0.1', 'of the proxy itself')
  t.equal(await seen(world, withRequest(header({ family: 0x00, rest: Buffer.alloc(0) }))), '127.0.0.1')
})

t.test('a proxy before the proxy is believed as well', async (t) => {
  const world = await ApiWorld.start(t, {
    trustedProxies: ['127.0.0.1', '198.51.100.7'],
    proxyProtocol: true,
  })
  const request = REQUEST.replace('Host: x', 'Host: x\r\nX-Forwarded-For: 10.9.9.9, 203.0.113.9')
  t.equal(await seen(world, withRequest(header(), request)), '203.0.113.9')
  const other = withRequest(header({ family: 0x21, rest: IPV6 }), request)
  t.equal(await seen(world, other), '2001:db8:2::7', 'and no one else')
})

t.test('a header may come byte by byte, and the request with its last one', async (t) => {
  const world = await behindProxy(t)
  const head = header()
  const socket = net.connect(world.dataPort, '127.0.0.1')
  await once(socket, 'connect')
  socket.setNoDelay(true)
  for (const byte of head.subarray(0, -1))
    await new Promise<void>((resolve) => socket.write(Buffer.from([byte]), () => setImmediate(resolve)))
  socket.write(withRequest(head.subarray(-1)))
  const pieces: Buffer[] = []
  for await (const piece of socket) pieces.push(piece as Buffer)
  t.match(Buffer.concat(pieces).toString(), /^HTTP\/1\.1 401 /)
  t.equal(world.memory.auditRows.at(-1)?.sourceIp, '198.51.100.7')
})

t.test('a body behind a header arrives whole', async (t) => {
  const { world, token } = await withTenant(t)
  const body = Buffer.alloc(300_000, 7)
  const head = `PUT /api/v1/buckets/photos/objects/a HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n`
  t.match(
    await world.raw(Buffer.concat([header(), Buffer.from(head), body])),
    /^HTTP\/1\.1 200 [^]*"size":300000/,
  )
})

async function withTenant(t: Test): Promise<{ world: ApiWorld; token: string }> {
  const world = await behindProxy(t)
  await world.memory.tenant('acme')
  const token = await world.memory.bearer('acme')
  const made = `POST /api/v1/buckets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\nContent-Length: 17\r\nConnection: close\r\n\r\n{"name":"photos"}`
  t.match(await world.raw(withRequest(header(), made)), /^HTTP\/1\.1 201 /)
  return { world, token }
}

t.test('a trusted proxy without a header, or with a broken one, gets no answer', async (t) => {
  const world = await behindProxy(t)
  const cases = {
    'no header': Buffer.from(REQUEST),
    'version 1 of the protocol': Buffer.from(`PROXY TCP4 1.2.3.4 5.6.7.8 1 2\r\n${REQUEST}`),
    'another version': header({ command: 0x11 }),
    'an unknown command': header({ command: 0x22 }),
    'an unknown family': header({ family: 0x41 }),
    'no stream': header({ family: 0x12 }),
    'an address cut short': header({ rest: IPV4.subarray(0, 8) }),
    'more than it may announce': header({ announced: 40_000 }),
    'two headers': Buffer.concat([header(), header(), Buffer.from(REQUEST)]),
  }
  for (const [name, bytes] of Object.entries(cases)) {
    const answer = await world.raw(withRequest(bytes))
    t.ok(
      name === 'two headers' ? answer.startsWith('HTTP/1.1 400 ') : refused(answer),
      `${name}: ${answer.slice(0, 60)}`,
    )
  }
  t.ok(world.memory.lines.some(({ message }) => message.includes('without a header of the PROXY protocol')))
})

t.test('a header from an address that is not trusted is no request', async (t) => {
  const world = await ApiWorld.start(t, { trustedProxies: ['192.0.2.1'], proxyProtocol: true })
  t.match(await world.raw(withRequest(header())), /^HTTP\/1\.1 400 /)
  t.equal(world.memory.auditRows.at(-1)?.sourceIp, '127.0.0.1')
  t.match(await world.raw(REQUEST), /^HTTP\/1\.1 401 /, 'without one it is served')
})

t.test('the header comes before the handshake of TLS', async (t) => {
  const made = new MadeCertificates(t)
  const memory = await MemoryServices.start(t, { trustedProxies: ['127.0.0.1'], proxyProtocol: true })
  const tls = new ListenerTls('data', made.issue('n1', { hosts: ['localhost'] }))
  const data = createDataServer(memory.services, NO_METER, { ...PLAIN_EDGE, ...onEdges(), tls })
  t.teardown(() => data.close())
  await data.listen({ host: '127.0.0.1', port: 0 })
  const raw = net.connect((data.server.address() as AddressInfo).port, '127.0.0.1')
  await once(raw, 'connect')
  raw.write(header())
  const socket = connectTls({ socket: raw, ca: made.caText, servername: 'localhost' })
  await once(socket, 'secureConnect')
  socket.write(REQUEST)
  const [answer] = (await once(socket, 'data')) as [Buffer]
  t.match(answer.toString(), /^HTTP\/1\.1 401 /)
  socket.destroy()
  t.equal(memory.auditRows.at(-1)?.sourceIp, '198.51.100.7')
})

t.test('a listener closes although a proxy connected and sent nothing', async (t) => {
  const world = await behindProxy(t)
  for (const sent of [Buffer.alloc(0), header()]) {
    const socket = net.connect(world.dataPort, '127.0.0.1')
    await once(socket, 'connect')
    if (sent.length > 0) socket.write(sent)
    t.teardown(() => socket.destroy())
  }
  t.match(await world.raw(withRequest(header())), /^HTTP\/1\.1 401 /, 'both were accepted before')
  await world.dataServer.close()
})

t.test('readProxyHeader reads no bytes as an address that a proxy did not write', async (t) => {
  t.same(readProxyHeader(new Uint8Array()), { kind: 'short', bytesMin: 16 })
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 64 }), fc.nat({ max: 28 }), (bytes, kept) => {
      const given = Buffer.concat([header().subarray(0, kept), bytes])
      const read = readProxyHeader(given)
      if (read.kind === 'whole') return read.bytes <= given.length && read.bytes >= 16
      return read.kind === 'broken' || read.bytesMin > given.length
    }),
    { seed: 18 },
  )
  t.pass()
})
