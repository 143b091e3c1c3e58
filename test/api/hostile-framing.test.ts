/**
 * Requests that two servers could read in two ways, and bodies and headers that never end: over raw sockets.
 *
 * Each one is followed by a second request that would delete an object if it were read as a request.
 */
import { once } from 'node:events'
import net from 'node:net'
import t from 'tap'
import { ApiWorld } from './api-world.ts'

const VICTIM = '/api/v1/buckets/photos/objects/victim'

/** With the object that the second request would delete. */
async function start(t: Parameters<typeof ApiWorld.start>[0]) {
  const { world, token } = await ApiWorld.withBucket(t)
  await world.call({ method: 'PUT', path: VICTIM, token, body: 'here' })
  const smuggled = `DELETE ${VICTIM} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n\r\n`
  const isThere = async () => (await world.call({ path: VICTIM, token })).status === 200
  return { world, token, smuggled, isThere }
}

/** `HEAD` is replaced by the request line, Host and Authorization of an upload. */
const REFUSED: Readonly<Record<string, string>> = {
  'a length and chunks': 'HEAD\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  'chunks and a length': 'HEAD\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n',
  'two lengths': 'HEAD\r\nContent-Length: 0\r\nContent-Length: 500\r\n\r\n',
  'the same length twice': 'HEAD\r\nContent-Length: 0\r\nContent-Length: 0\r\n\r\n',
  'a list of lengths': 'HEAD\r\nContent-Length: 0, 500\r\n\r\n',
  'a length with a sign': 'HEAD\r\nContent-Length: +0\r\n\r\n',
  'a negative length': 'HEAD\r\nContent-Length: -1\r\n\r\n',
  'a length in hexadecimal': 'HEAD\r\nContent-Length: 0x0\r\n\r\n',
  'a length with a gap': 'HEAD\r\nContent-Length: 0 0\r\n\r\n',
  'an empty length': 'HEAD\r\nContent-Length:\r\n\r\n',
  'a length beyond 64 bits': 'HEAD\r\nContent-Length: 99999999999999999999999\r\n\r\n',
  'chunked that is not last': 'HEAD\r\nTransfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n',
  'an unknown coding': 'HEAD\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n',
  'a coding in quotes': 'HEAD\r\nTransfer-Encoding: "chunked"\r\n\r\n0\r\n\r\n',
  'another coding before chunked': 'HEAD\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n',
  'another coding in a line before':
    'HEAD\r\nTransfer-Encoding: deflate\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  'chunked twice': 'HEAD\r\nTransfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n',
  'chunks in HTTP/1.0':
    'PUT /api/v1/buckets/photos/objects/k HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  'two codings in two lines':
    'HEAD\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n',
  'a blank before the colon': 'HEAD\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n',
  'a tab before the colon': 'HEAD\r\nContent-Length\t: 0\r\n\r\n',
  'a vertical tab in the coding': 'HEAD\r\nTransfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n',
  'a folded header': 'HEAD\r\nX-A: 1\r\n Content-Length: 0\r\n\r\n',
  'a folded coding': 'HEAD\r\nTransfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n',
  'a bare line feed': 'HEAD\r\nContent-Length: 0\nX-A: 1\r\n\r\n',
  'a bare carriage return': 'HEAD\r\nX-A: 1\rContent-Length: 0\r\n\r\n',
  'a NUL in a header': 'HEAD\r\nX-A: a\0b\r\nContent-Length: 0\r\n\r\n',
  'a NUL in a name': 'HEAD\r\nX\0A: a\r\nContent-Length: 0\r\n\r\n',
  'a header without a colon': 'HEAD\r\nContent-Length\r\n\r\n',
  'a header without a name': 'HEAD\r\n: 0\r\nContent-Length: 0\r\n\r\n',
  'a chunk size that is no number': 'HEAD\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n0\r\n\r\n',
  'a chunk size with a sign': 'HEAD\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n0\r\n\r\n',
  'a chunk size in 0x': 'HEAD\r\nTransfer-Encoding: chunked\r\n\r\n0x1\r\na\r\n0\r\n\r\n',
  'a chunk size beyond 64 bits': 'HEAD\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFFF\r\n',
  'a chunk longer than it says': 'HEAD\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n0\r\n\r\n',
  'a chunk that ends with a line feed': 'HEAD\r\nTransfer-Encoding: chunked\r\n\r\n1\na\r\n0\r\n\r\n',
  'an endless chunk extension': `HEAD\r\nTransfer-Encoding: chunked\r\n\r\n1;${'x'.repeat(20_000)}\r\na\r\n0\r\n\r\n`,
  'endless trailers': `HEAD\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`,
  'a length in the trailers':
    'HEAD\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nContent-Length: 500\r\n\r\n',
  'too many header bytes': `HEAD\r\nX-A: ${'x'.repeat(17_000)}\r\nContent-Length: 0\r\n\r\n`,
  'two hosts': 'HEAD\r\nHost: y\r\nContent-Length: 0\r\n\r\n',
  'two callers': 'HEAD\r\nAuthorization: Bearer x\r\nContent-Length: 0\r\n\r\n',
  'the same caller twice': 'HEAD\r\nAUTHORIZATION: Basic eDp5\r\nContent-Length: 0\r\n\r\n',
  'a method that is none': 'PUTT / HTTP/1.1\r\nHost: x\r\n\r\n',
  'a blank in the target': 'GET / x HTTP/1.1\r\nHost: x\r\n\r\n',
  'no version': 'GET /\r\nHost: x\r\n\r\n',
  'an unknown version': 'GET / HTTP/3.7\r\nHost: x\r\n\r\n',
  'the preface of HTTP/2': 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  'no host': 'GET /api/v1/healthz HTTP/1.1\r\n\r\n',
}

t.test('an ambiguous request is refused, and no byte after it is read', async (t) => {
  const { world, token, smuggled, isThere } = await start(t)
  const head = `PUT /api/v1/buckets/photos/objects/k HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}`
  for (const [name, text] of Object.entries(REFUSED)) {
    // `raw` ends when the server has closed the connection.
    const received = await world.raw(text.replace('HEAD', head) + smuggled)
    t.match(received, /^HTTP\/1\.1 (400|413|431|501) /, name)
    t.equal(received.match(/HTTP\/1\.1 [1-5]\d\d /g)?.length, 1, `${name}: one answer`)
    t.ok(await isThere(), `${name}: the second request was not carried out`)
  }
})

t.test('a coding that is not carried out is 501 by name [objects.put.coding]', async (t) => {
  const { world, token } = await start(t)
  const head = `PUT /api/v1/buckets/photos/objects/k HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}`
  const gzip = 'Transfer-Encoding: gzip, chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n'
  t.match(
    await world.raw(`${head}\r\n${gzip}`),
    /^HTTP\/1\.1 501 [^]*"code":"not_implemented"[^]*gzip, chunked/,
  )
  t.equal((await world.call({ path: '/api/v1/buckets/photos/objects/k', token })).status, 404)
})

t.test('a valid request is served once, and the next request is read correctly', async (t) => {
  const { world, token, isThere } = await start(t)
  const head = `PUT /api/v1/buckets/photos/objects/k HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}`
  const last = 'GET /api/v1/healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'
  const allowed = {
    'a chunk extension': '\r\nTransfer-Encoding: chunked\r\n\r\n5;a=b\r\nhello\r\n0\r\n\r\n',
    'trailers that repeat the digest':
      '\r\nTrailer: Content-MD5\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nContent-MD5: XUFAKrxLKna5cZ2REBfFkg==\r\n\r\n',
    'a coding in capitals': '\r\nTransfer-Encoding: CHUNKED\r\n\r\n5\r\nhello\r\n0\r\n\r\n',
    'a length with leading zeros': '\r\nContent-Length: 0005\r\n\r\nhello',
    'a request inside of the body': `\r\nContent-Length: ${`DELETE ${VICTIM} HTTP/1.1\r\n\r\n`.length}\r\n\r\nDELETE ${VICTIM} HTTP/1.1\r\n\r\n`,
  }
  for (const [name, rest] of Object.entries(allowed)) {
    const received = await world.raw(head + rest + last)
    const statuses = [...received.matchAll(/HTTP\/1\.1 (\d\d\d) /g)].map(([, status]) => status)
    t.same(statuses, ['200', '200'], name)
    t.ok(await isThere(), name)
  }
})

t.test('a body on a route that takes none does not become a request', async (t) => {
  const { world, token, smuggled, isThere } = await start(t)
  const inside = `Content-Length: ${smuggled.length}\r\n\r\n${smuggled}`
  for (const path of ['/api/v1/healthz', '/api/v1/buckets', '/api/v1/nowhere']) {
    const text = `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer ${token}\r\n${inside}`
    t.match(await world.raw(text), /^HTTP\/1\.1 (400|404) [^]*"code":"(invalid_request|not_found)"/, path)
    t.ok(await isThere(), path)
  }
})

t.test('a silent client is disconnected, in headers and in bodies', async (t) => {
  const { world, token } = await start(t)
  const { server } = world.dataServer
  t.equal(server.timeout, 120_000, 'on a socket on which nothing moves')
  t.equal(server.headersTimeout, 20_000)
  // The same by the same means, only sooner.
  server.timeout = 50
  const auth = `Host: x\r\nAuthorization: Bearer ${token}`
  for (const half of [
    'GET /api/v1/hea',
    `GET /api/v1/buckets HTTP/1.1\r\n${auth}\r\nX-A: `,
    `PUT /api/v1/buckets/photos/objects/k HTTP/1.1\r\n${auth}\r\nContent-Length: 500\r\n\r\nhal`,
    `PUT /api/v1/buckets/photos/objects/k HTTP/1.1\r\n${auth}\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhal`,
    `POST /api/v1/buckets HTTP/1.1\r\n${auth}\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n{"na`,
  ]) {
    const socket = net.connect(world.dataPort, '127.0.0.1')
    socket.on('error', () => undefined)
    socket.resume()
    socket.write(half)
    await once(socket, 'close')
    t.pass(half.slice(0, 30))
  }
  t.equal(
    (await world.call({ path: '/api/v1/buckets/photos/objects/k', token })).status,
    404,
    'no half is stored',
  )
})
